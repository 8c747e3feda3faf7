// SPDX-License-Identifier: Apache-2.0
//
// Virtual time, in nanoseconds from 0, and the deadlines of strands that wait and of alarms. Time passes with
// schedule points and with reads of a clock; it jumps to a deadline when nothing else can happen.
#pragma once

#include <initializer_list>

#include "sched/strand.h"

namespace duress::sched {

/// Resetting it for another execution is an assignment.
class Timers {
 public:
  u64 now() const { return now_; }
  void advance(u64 nanoseconds) { now_ += nanoseconds; }
  /// Not back.
  void advance_to(u64 time) {
    if (time > now_ && time != kNever) now_ = time;
  }
  /// A read of a clock: time goes on, and faster if nothing else has changed since the last read.
  u64 read_clock(u64 changes);

  /// Whether a strand waits with a deadline.
  bool any() const { return armed_ != 0; }
  void arm(Strand* s, u64 deadline) {
    s->wait.deadline = deadline;
    ++armed_;
    if (deadline < next_deadline_) next_deadline_ = deadline;
  }
  void disarm(Strand* s) {
    if (s->wait.deadline == kNever) return;
    s->wait.deadline = kNever;
    --armed_;
  }
  /// After fork in the child. Time stays.
  void forget_deadlines() {
    armed_ = 0;
    next_deadline_ = kNever;
  }

  bool any_due() const { return armed_ && now_ >= next_deadline_; }
  /// Calls fire(strand), which disarms it, for each in both lists whose deadline has passed.
  template <typename Fire>
  void fire_due(Strand* strands, Strand* alarms, Fire fire) {
    next_deadline_ = kNever;
    for (Strand* list : {strands, alarms}) {
      for (Strand* s = list; s; s = s->next_strand) {
        if (s->wait.deadline == kNever) continue;
        if (s->wait.deadline <= now_) {
          fire(s);
        } else if (s->wait.deadline < next_deadline_) {
          next_deadline_ = s->wait.deadline;
        }
      }
    }
  }
  /// The one with the earliest deadline in both lists, strands first; null if there is none. Alarms that
  /// count processor time only if some is used.
  static Strand* earliest(Strand* strands, Strand* alarms, bool processor_used);

 private:
  u64 now_ = 0;
  u64 next_deadline_ = kNever;  // not later than the earliest
  u32 armed_ = 0;
  u64 clock_reads_ = 0, clock_changes_ = 0;
};

/// How far the n-th read of a clock in a row moves time on: from 1 microsecond to one second, so that a loop
/// that waits for a time ends after a few dozen reads.
inline u64 clock_advance(u64 reads) {
  return u64{1000} << (reads < 40 ? reads / 2 : 20);
}

}  // namespace duress::sched
