// SPDX-License-Identifier: Apache-2.0
//
// What an explored execution reports to the explorer: its steps and its strands. In the target's memory for
// duress::check; in the record that host and target share for `duress verify`.
#pragma once

#include "exhaustive/step.h"

namespace duress::exhaustive {

struct StepLog {
  /// Behaviour that was not explored; the result is then bounded.
  enum Limit : u32 {
    kTooManySteps = 1,
    kTooManyStrands = 2,
    kTimers = 4,         // a timeout could have expired earlier
    kClock = 8,          // the program read a clock
    kDescriptors = 16,   // it blocked on a file descriptor
    kFutex = 32,         // it woke several waiters, but not all of them
    kSpinning = 64,      // a loop ran too often with nothing changed
    kNotExplored = 128,  // rc11: two strands met at an operation that is not reordered
    kHistory = 256,      // rc11: an operation had more stores to choose from than are explored
    kIllegal = 512,      // rc11: the model forbids the plan; the execution does not count
    // The execution does not count. rc11: an await loop is blocked although a newer store exists. sc: a wait
    // that chose not to time out is never woken.
    kAwaitBlocked = 1024,
    kCancelled = 2048,      // a thread was cancelled: at which point is not explored
    kTried = 4096,          // rc11: an await loop takes a lock in each iteration, and another strand tries to
    kWideAccess = 8192,     // an access of many words is one step
    kEndedEarly = 16384,    // the process ended while other strands could go on
    kLongRun = 32768,       // a strand performed so many steps in a row that others had to go first
    kMixedSizes = 65536,    // rc11: a store history was dropped: atomics of several sizes overlap
    kUnseenWrite = 131072,  // rc11: a store history was dropped: something else wrote there
    kScOrder = 262144,      // rc11: more seq_cst operations may be reordered than are
    // By reads-from classes: a plain read that is no step, of what several strands have stored atomically.
    kPlainRead = 524288,
    kLast = kPlainRead
  };
  /// A strand is named by its creator and its ordinal among the strands of that creator: the same in every
  /// interleaving.
  struct Origin {
    u32 parent;
    u32 ordinal;
    u32 like =
        0;  // ordinal of the strand that was created right before it and alike; 0: none, or not asked for
    bool operator==(const Origin&) const = default;
  };

  /// Program locations of await loops: a strand came back with nothing changed. From then on its local state
  /// is compared there, from the first visit on; so an exploration that finds a new one has to start over.
  static constexpr u32 kMostSpins = 64;

  u32 count = 0, room = 0;
  u32 limits = 0;
  u32 strands = 1;  // known ones; 0 is the main thread
  Origin origins[kMostStrands] = {};
  u32 spins = 0;  // known ones
  u64 spin[kMostSpins] = {};
  Step steps[1];  // `room` of them

  static constexpr u64 bytes(u32 room) { return sizeof(StepLog) + room * sizeof(Step); }

  /// The next step, to be filled in; null if there is no room.
  Step* add() {
    if (DURESS_UNLIKELY(count == room)) {
      limits |= kTooManySteps;
      return nullptr;
    }
    return &steps[count++];
  }
  /// The number of that strand.
  u32 strand_of(const Origin& origin) {
    for (u32 i = 1; i < strands; ++i) {
      if (origins[i] == origin) return i;
    }
    if (strands == kMostStrands) {
      limits |= kTooManyStrands;
      return kMostStrands - 1;
    }
    origins[strands] = origin;
    return strands++;
  }
};
/// Vector clocks count the steps of a strand in 16 bits.
inline constexpr u32 kMostSteps = 50'000;

}  // namespace duress::exhaustive
