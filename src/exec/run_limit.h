// SPDX-License-Identifier: Apache-2.0
//
// When the time of a run (--run-timeout) is over.
//
// A run without end is ended by the number of its steps, which is the same on every machine. A busy machine
// must not be faster with the clock: the failure would have another name, and its replay would differ. So a
// run that still takes steps gets its time again as long as it is on its way to the step limit. One that
// waits or computes without steps, or takes too few, is ended when its time is over.
#pragma once

#include "trail/execution.h"

namespace duress::exec {

class RunLimit {
 public:
  /// A run that needs more than this many times its time for all of its steps is not waited for.
  static constexpr u64 kMostPeriods = 20;

  /// `most_steps`: as requested; 0: the default.
  explicit RunLimit(u64 most_steps) : most_steps_(most_steps ? most_steps : trail::kDefaultMostSteps) {}

  /// The time of a run is over, which has taken `steps`: whether it gets the same time again.
  bool goes_on(u64 steps) {
    u64 taken = steps - steps_;  // a target that writes over its record gains kMostPeriods at most
    steps_ = steps;
    return ++periods_ < kMostPeriods && taken > most_steps_ / kMostPeriods;
  }

 private:
  u64 most_steps_, steps_ = 0, periods_ = 0;
};

}  // namespace duress::exec
