// SPDX-License-Identifier: Apache-2.0
//
// Finds out that a strand repeats itself, in executions with free choices (random, pct, replay and so on). A
// strand that only observes the same things again and again while nothing changes waits for another one; it
// steps back so that it does not use up the execution. Systematic executions are exact about it instead:
// spin_detector.h.
#pragma once

#include "event/operation.h"

namespace duress::sched {

/// Of one strand. `changes` counts what other strands could have seen so far, `turns` the handoffs.
class Repetition {
 public:
  /// Whether the strand is to step back because it comes to this operation again and again. What is compared
  /// is the same in all instrumented variants of a function, so that an execution does not depend on which
  /// one runs.
  bool steps_back(const Operation& operation, u64 changes, u64 turns);

  /// Whether a plain load need not be a schedule point: it has repeated very often since something changed,
  /// and one in many is enough. (tsp of 16 cities: 100,000,000 loads, 40 s, while everything else takes
  /// 0.2 s.)
  bool throttle_load(uptr site, u64 changes) {
    constexpr u32 kOften = 4096, kOneIn = 64;
    Load& load = loads_[site / 32 % kLoads];
    if (load.site != site || load.changes != changes) {
      load = {site, changes, 0};
      return false;
    }
    return ++load.count > kOften && load.count % kOneIn != 0;
  }

  /// Local states while a livelock is suspected. False: there are too many for one.
  bool note_state(u64 state);
  void forget_states() { state_count_ = 0; }

 private:
  struct Repeat {
    u64 key;
    u64 changes, turn;  // then
    u32 unchanged;      // times in a row that nothing had changed in between
    u32 in_turn;        // times in a row that no other strand had run in between
  };
  struct Load {
    uptr site;
    u64 changes;  // then
    u32 count;    // times since something changed
  };
  Repeat& find_or_replace(u64 key, u64 changes, u64 turns);

  static constexpr u32 kRepeats = 32, kPlaces = 8, kLoads = 8, kStates = 8;
  Repeat repeats_[kRepeats] = {};
  u64 observing_since_ = 0;  // changes
  u32 observed_ = 0;         // operations in a row since then that only observe
  Load loads_[kLoads] = {};
  u64 states_[kStates] = {};
  u32 state_count_ = 0;
};

}  // namespace duress::sched
