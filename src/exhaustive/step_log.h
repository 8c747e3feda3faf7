// SPDX-License-Identifier: Apache-2.0
//
// What an execution that is explored tells the explorer: its steps, and which strands there were. In the
// target's memory for duress::check, in the record that host and target map for `duress verify`.
#ifndef DURESS_EXHAUSTIVE_STEP_LOG_H_
#define DURESS_EXHAUSTIVE_STEP_LOG_H_

#include "exhaustive/step.h"

namespace duress::exhaustive {

struct StepLog {
  /// Things that the explorer does not explore: the answer then says so.
  enum Limit : u32 {
    kTooManySteps = 1,
    kTooManyStrands = 2,
    kTimers = 4,         // a timeout could have come earlier
    kClock = 8,          // the program looked at a clock
    kDescriptors = 16,   // it waited for a descriptor
    kFutex = 32,         // it woke some of those who wait, not one and not all
    kSpinning = 64,      // it repeated something so often that it was stopped
    kNotExplored = 128,  // rc11: two strands met at an operation that is not reordered
    kHistory = 256,      // rc11: a history was too long, or dropped
    kIllegal = 512,      // rc11: the model did not allow what was planned. The execution does not count
    // The execution does not count. rc11: a loop waits for what is there. sc: a wait that chose not to time
    // out is never woken.
    kAwaitBlocked = 1024,
    kCancelled = 2048,  // a thread was cancelled: where that reaches it is not explored
    kTried = 4096,      // rc11: a round of a loop that waits took a lock, and another strand tried to
  };
  /// A strand is named by its creator and its ordinal among the strands of that creator: the same in every
  /// interleaving.
  struct Origin {
    u32 parent;
    u32 ordinal;
    bool operator==(const Origin&) const = default;
  };

  /// Places where a strand came again with nothing done in between. There its local state is looked at, from
  /// the first time on; so whoever finds a new one must begin anew.
  static constexpr u32 kMostSpins = 64;

  u32 count = 0, room = 0;
  u32 limits = 0;
  u32 strands = 1;  // known ones; number 0 is the first
  Origin origins[kMostStrands] = {};
  u32 spins = 0;  // known ones
  u64 spin[kMostSpins] = {};
  Step steps[1];  // `room` of them

  static constexpr u64 bytes(u32 room) { return sizeof(StepLog) + room * sizeof(Step); }

  /// Room for one more; null if there is none.
  Step* add() {
    if (DURESS_UNLIKELY(count == room)) {
      limits |= kTooManySteps;
      return nullptr;
    }
    return &steps[count++];
  }
  /// The number of the `ordinal`-th strand that `parent` created.
  u32 strand_of(u32 parent, u32 ordinal) {
    for (u32 i = 1; i < strands; ++i) {
      if (origins[i].parent == parent && origins[i].ordinal == ordinal) return i;
    }
    if (strands == kMostStrands) {
      limits |= kTooManyStrands;
      return kMostStrands - 1;
    }
    origins[strands] = {parent, ordinal};
    return strands++;
  }
};
/// A strand's clock counts its steps in 16 bits.
inline constexpr u32 kMostSteps = 50'000;

}  // namespace duress::exhaustive

#endif  // DURESS_EXHAUSTIVE_STEP_LOG_H_
