// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint inside an execution that may be rolled back. The executions of an exploration differ only from
// their first choice on: what comes before it, creating the threads above all, is the same work again and
// again (readers(13) of bench/verify: 118 of 200 us). So a second image is taken there
// (MemoryImage::take_checkpoint), and later requests of the same exploration begin at it.
//
// A checkpoint is taken only where nothing but memory was changed since the beginning of the execution: no
// file was read or written, no descriptor made, no mapping, no signal handler. What host and target share,
// the record and the step log, is saved here and written back.
#pragma once

#include "exhaustive/step_log.h"
#include "trail/execution.h"

namespace duress {

/// Lives in memory that is not put back. Zeros are valid.
struct Checkpoint {
  static constexpr u32 kMostHeadBytes = 1 << 16, kMostSteps = 256, kMostSideEvents = 16;
  static constexpr u32 kMostAttempts = 8, kMostMismatches = 16;

  /// A new process. `on`: whether there is to be one at all.
  void reset(bool on);
  /// Whether one is to be taken now, by an execution with that request and record.
  bool wanted(const trail::Request& request, const trail::Record& record) const;
  /// Saves what host and target share. False: there is too much of it.
  bool save(const trail::Request& request, const trail::Record& record, const exhaustive::StepLog& log);
  /// Whether an execution of that request would come to the checkpoint. REQUIRES: is_valid.
  bool leads_here(const trail::Request& request, const exhaustive::StepLog& log) const;
  /// Writes back what was saved, for an execution that begins here.
  void restore(trail::Record& record, exhaustive::StepLog& log) const;

  bool is_on, is_valid;
  bool resumed;          // an execution has begun here
  u32 attempts;          // to take one, in a row
  u32 mismatches;        // requests that did not lead here, less those that did
  void* resume;          // where executions go on
  uptr thread_pointer;   // then
  u32 staying_mappings;  // MemoryImage::stayed then

 private:
  u32 head_bytes;
  u32 spin_count;
  alignas(8) char head[kMostHeadBytes];  // of the request, up to its picks
  u8 wanted_values[kMostSteps];          // of the steps before
  trail::Record record_;
  trail::SideEvent side_events[kMostSideEvents];
  u32 step_count, limits, strands;
  exhaustive::StepLog::Origin origins[exhaustive::kMostStrands];
  u64 spin[exhaustive::StepLog::kMostSpins];
  exhaustive::Step steps[kMostSteps];
};

}  // namespace duress
