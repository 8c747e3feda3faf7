// SPDX-License-Identifier: Apache-2.0
//
// Executions ahead: several requests handed over at once. Waking the target for a request and the host for a
// reply costs as much as a quarter of a short execution. So the host may put further requests behind the
// record (Request::ahead_count says how many); a process that is rolled back performs them one after the
// other and answers once.
//
// What an execution leaves besides its record is where the host expects that of one alone. So the process
// goes on with the next request only after an execution of which nothing but the record is left, is_quiet();
// it moves the record aside and clears it, as the host does before each execution. The last execution
// that it performs is in the record itself, whatever it was. If that one ends the process, the fork server
// says so, as ever: `performed` says which of them it was.
#pragma once

#include "trail/execution.h"

namespace duress::trail {

/// Whether an execution in a process that was rolled back has left nothing but its record: it printed
/// nothing, logged nothing, and ended by itself with exit code 0; its races were looked for.
inline bool is_quiet(const Record& record) {
  return record.magic == kMagic && record.rollback == Rollback::kDone && record.outcome == Outcome::kEnded &&
         record.wrote == 0 && record.write_failed == 0 && record.log_bytes == 0 &&
         record.races_unchecked == 0 && record.tool_failed == 0;
}

/// A record that was moved aside. Its lists follow.
struct AheadResult {
  u32 limits;      // of the step log, as the next one
  u32 step_count;  // 0: the execution was not systematic
  Record record;

  /// Where each list begins, in bytes from the struct.
  struct Layout {
    u64 trail, future_values, atomic_profile, side_events, observed_pairs, switch_points, steps, end;
  };
  /// REQUIRES: fits().
  Layout layout(u64 step_size) const {
    Layout at;
    at.trail = sizeof(AheadResult);
    at.future_values = at.trail + record.deviations * sizeof(Deviation);
    at.atomic_profile = at.future_values + record.future_value_count * sizeof(Prediction);
    at.side_events = at.atomic_profile + record.atomic_profile_count * sizeof(AtomicProfileEntry);
    at.observed_pairs = at.side_events + record.side_event_count * sizeof(SideEvent);
    at.switch_points = (at.observed_pairs + record.observed_pair_count * sizeof(u32) + 7) / 8 * 8;
    at.steps = at.switch_points + record.switch_point_count * sizeof(SwitchPoint);
    at.end = at.steps + step_count * step_size;
    return at;
  }
  /// Whether the counts are small enough to be added up.
  bool fits() const {
    constexpr u64 kMost = u64{1} << 20;
    return record.deviations < kMost && record.future_value_count < kMost &&
           record.atomic_profile_count < kMost && record.side_event_count < kMost &&
           record.observed_pair_count < kMost && record.switch_point_count < kMost && step_count < kMost;
  }
};
static_assert(sizeof(AheadResult) % 8 == 0);

/// At kAheadOffset of the record's file. Requests come first, results after them.
struct Ahead {
  static constexpr u32 kMost = 15;
  static constexpr u64 kMostRequestBytes = u64{1} << 16;

  u32 performed;       // by the target: executions whose results were moved aside
  u32 strands, spins;  // of the step log before each execution; where one found more, no other follows
  u32 unused;
  u64 results;  // by the host: where the first result begins, in bytes from this struct
  u64 request_at[kMost];
  u64 result_at[kMost];  // by the target

  char* at(u64 offset) { return reinterpret_cast<char*>(this) + offset; }
  const char* at(u64 offset) const { return reinterpret_cast<const char*>(this) + offset; }
};

static_assert(kAheadOffset % 8 == 0);

inline Ahead& ahead_of(Record* record) {
  return *reinterpret_cast<Ahead*>(reinterpret_cast<char*>(record) + kAheadOffset);
}

}  // namespace duress::trail
