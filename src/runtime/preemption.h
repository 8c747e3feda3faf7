// SPDX-License-Identifier: Apache-2.0
//
// A strand that spins in code without schedule points (a lock of a library that is not instrumented, a wait
// for a plain variable) would keep the turn for ever. A timer of the kernel looks every few milliseconds of
// processor time: where a strand has come to no point for long and only goes round, the others go first.
//
// Where it is interrupted depends on the clock, so this is for strands that do nothing else: the same few
// instructions again and again, with all but two registers unchanged. Then it makes no difference when.
#pragma once

#include <signal.h>

namespace duress {

/// Timers of the program that count processor time are the scheduler's, so the kernel's one is free, and so
/// is its signal.
inline constexpr int kPreemptionSignal = SIGPROF;

/// Before the first execution.
void preemption_prepare();
/// An execution begins on the calling thread, which runs all strands.
void preemption_begin();
/// The process is about to become another program, which would get the timer.
void preemption_end();

}  // namespace duress
