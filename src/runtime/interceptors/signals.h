// SPDX-License-Identifier: Apache-2.0
//
// Signals of strands in controlled mode, between signal_delivery.cc (who gets a signal, and its handler),
// signals.cc (who sends one), signal_masks.cc (masks, and waits for signals) and signal_descriptors.cc.
#pragma once

#include <signal.h>
#include <string.h>

#include "runtime/control.h"

namespace duress {

inline u64 signal_bit(int signal) {
  return u64{1} << (signal - 1);
}
inline u64 mask_of(const sigset_t* set) {
  u64 mask;
  memcpy(&mask, set, sizeof mask);
  return mask;
}

/// Runs the handlers of all signals that are pending and not blocked. Called on the strand.
void deliver_signals(sched::Strand& strand);
/// The first of `set` that is pending for the running strand, taken; 0 if there is none.
int take_pending_signal(u64 set, siginfo_t* info);
/// For the strand or the process, blocked or not.
u64 pending_signals(const sched::Strand& strand);
/// Sent by something that is not a strand. It arrives when the strand goes on.
void note_for_strand(sched::Strand* to, int signal);
/// For any strand that takes it.
void note_for_process(int signal);
/// Sent by the running strand; if it is to itself, the handler runs now.
void send_to_strand(sched::Strand* to, int signal);
siginfo_t info_of(int signal);
/// Signals that are not controlled.
bool is_fault(int signal);
/// Whether the process ends of it, as things are.
bool kills(int signal);
int set_controlled_action(int signal, const struct sigaction* action, struct sigaction* old);
int sigaction_of_kernel(int signal, const struct sigaction* action, struct sigaction* old);
/// A descriptor of signalfd() takes it, which all strands block (signal_descriptors.cc).
bool signal_descriptor_takes(int signal);
/// A signal for the strand whose thread has that number. False: there is none.
bool signal_thread(int number, int signal);

// signal_order.cc: sigaction → every run of the handler.
inline constexpr int kMostSignals = 64;
using RealSigaction = int(int, const struct sigaction*, struct sigaction*);
using RealSignal = sighandler_t(int, sighandler_t);
/// sigaction and signal of a program that is observed but not controlled.
int install_ordered(int signal, const struct sigaction* action, struct sigaction* old, RealSigaction* real,
                    uptr pc);
sighandler_t install_ordered(int signal, sighandler_t handler, RealSignal* real, uptr pc);
/// The two sides of the order, for controlled executions.
void handler_installed(int signal, uptr pc);
void handler_begins(int signal);

}  // namespace duress
