// SPDX-License-Identifier: Apache-2.0
//
// Signals of strands in controlled mode, between signals.cc (who gets a signal, and its handler) and
// signal_masks.cc (masks, and waits for signals).
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
int take_pending_signal(u64 set);
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
