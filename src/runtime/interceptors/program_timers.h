// SPDX-License-Identifier: Apache-2.0
//
// Timers of the program in controlled mode: setitimer, timer_create, timerfd. The kernel has none of them;
// each is an alarm of the scheduler, which expires in virtual time, when the schedule says so.
#pragma once

#include <signal.h>
#include <time.h>

#include "runtime/control.h"

namespace duress {

struct ProgramTimer {
  enum class Notifies : u8 { kNothing, kProcess, kThread, kFunction, kDescriptor };
  bool used = false;
  Notifies notifies = Notifies::kNothing;
  int signal = 0;
  sigval value = {};
  sched::Strand* strand = nullptr;  // kThread: that gets the signal; kFunction: that makes threads
  void (*function)(sigval) = nullptr;
  clockid_t clock = CLOCK_MONOTONIC;
  int number = -1;      // timer_t
  int descriptors = 0;  // that name it, copies included
  int descriptor = -1;  // one of them
  bool sent = false;    // its signal is pending
  u64 expirations = 0;  // that nobody was told of yet
  u64 overruns = 0;     // of the last signal
  u64 deadline = sched::kNever, interval = 0;
  uptr place = 0;  // where it was set
  sched::Strand* alarm = nullptr;
};

/// A free one; null: there are too many.
ProgramTimer* take_program_timer();
void drop_program_timer(ProgramTimer* timer);
/// It expires at that time, then every `interval`. kNever: it is off.
void set_program_timer(ProgramTimer* timer, u64 deadline, u64 interval, uptr pc);
itimerspec time_left(const ProgramTimer* timer);
/// The time at which it is to expire, as the program says it; kNever: it is to be off.
u64 deadline_of(const ProgramTimer* timer, const timespec& time, bool absolute);
u64 nanoseconds_of(const timespec& time);

/// The signal is about to be taken: fills in what the timer that sent it says. True: another timer has sent
/// it too, and signals of this number are queued.
bool program_timer_sent(int signal, siginfo_t* info);

// ---- timerfd (signal_descriptors.cc)
/// The descriptor is a copy of another one, or is closed.
void timer_descriptor_copied(int fd, int copy);
void timer_descriptor_closed(int fd);

}  // namespace duress
