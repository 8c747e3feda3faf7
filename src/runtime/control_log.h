// SPDX-License-Identifier: Apache-2.0
//
// What a controlled execution writes to the log: all strands with their stacks when it is stuck, and in a
// replay every step with its value. The scheduler calls these functions.
#pragma once

#include "sched/scheduler.h"

struct DuressSite;

namespace duress {

/// Keeps the calling strand's stack for log_stuck().
void keep_stack(sched::Strand& strand);
/// The execution cannot go on: writes why, and ends the process.
[[noreturn]] void log_stuck(trail::Outcome outcome);
/// A step is about to be done. That of an access is written when its value is known.
void log_step(const sched::Strand& strand);
void log_traced_value(u64 value, u32 size);
/// A plain access of the running strand that is no step. No more than trail::kMostPlain are written: whoever
/// reads the log then knows that it has not all of them.
void log_plain_access(const void* p, u32 size, bool write, u64 value, const DuressSite* site);
/// In replays: the running strand, or an alarm, times out although others could run.
void log_early_timeout(const sched::Strand& strand);

}  // namespace duress
