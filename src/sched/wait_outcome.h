// SPDX-License-Identifier: Apache-2.0
//
// How waits end, in systematic executions. A wait on a condition may end with no signal (a spurious wake-up),
// a wait with a deadline may end before any other strand has done anything. Where a request asks for it, that
// is a choice like others. Without a bound a loop around the wait could repeat for ever, so the request has
// one: the number of times in a row, of a strand at a place, until a signal ends the wait.
//
// A lock that may time out needs no choice: it is tried once, and the schedule decides when.
//
// A clock must show the same in all equivalent executions. So each strand has its own: it goes on with what
// the strand does, and is never behind the clock of the strand that woke it.
#pragma once

#include "exhaustive/step_log.h"
#include "trail/execution.h"

namespace duress::sched {

using exhaustive::WaitEnd;

/// Of one strand.
struct WaitOutcomes {
  static constexpr u32 kMostPlaces = 32;
  struct Place {
    uptr place = 0;
    u32 spurious = 0, timeouts = 0;  // in a row
  };
  Place places[kMostPlaces] = {};
  WaitEnd chosen = WaitEnd::kWoken;  // of the wait that it is in or comes to
  bool chose = false;                // there was a choice
  bool could_time_out = false;       // but waits until it is woken
  bool by_itself = false;            // the last wait ended with no signal
  u64 time = 0;                      // its own clock, if timeouts are explored
  u64 clock_reads = 0;

  /// Null: there are too many places, and at this one no wait ends by itself.
  Place* at(uptr place);
  /// How a wait there may end, a bit for each WaitEnd.
  u64 possible(uptr place, bool may_be_spurious, bool timed, const trail::Request& request);
  /// The choice before a wait is over.
  void forget_choice() {
    chosen = WaitEnd::kWoken;
    chose = could_time_out = false;
  }
  void advance_to(u64 until) {
    if (time < until) time = until;
  }
  /// A wait at that place has ended. The deadline is kNever - 1 if it is too far away for a clock.
  void ended(uptr place, WaitEnd end, u64 deadline);
  u64 read_clock();
};

}  // namespace duress::sched
