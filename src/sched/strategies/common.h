// SPDX-License-Identifier: Apache-2.0
//
// What several strategies decide in the same way.
#pragma once

#include "sched/strategy.h"

namespace duress::sched {

/// The default choice, against which trails are written: the running strand goes on, or, where it cannot, the
/// runnable one with the lowest number.
inline StrandView* default_thread(const Situation& situation) {
  if (situation.running) return situation.running;
  StrandView* lowest = situation.runnable[0];
  for (u32 i = 1; i < situation.count; ++i) {
    if (situation.runnable[i]->number < lowest->number) lowest = situation.runnable[i];
  }
  return lowest;
}

/// The value that the random strategies choose. Which waiter wakes is uniform. Spurious wake-ups and early
/// timers are rarer: every second time a loop around a wait would only repeat, but they must come often
/// enough that a wait without a loop fails within a few dozen executions.
inline u32 random_value(Prng& prng, ValueKind kind, u32 count) {
  if (count < 2) return 0;
  switch (kind) {
    case ValueKind::kSpurious:
      return prng.chance(1, 16) ? 1 : 0;
    case ValueKind::kEarlyTimer:
      return prng.chance(1, 4) ? 1 : 0;
    case ValueKind::kWakeOne:
    case ValueKind::kCoin:
    case ValueKind::kStoredValue:
    case ValueKind::kStorePlace:
    case ValueKind::kNondet:
      break;
  }
  return static_cast<u32>(prng.below(count));
}

/// Strategies that repeat a pattern can keep threads that try and step back (std::lock, a lock of readers and
/// writers) from ever meeting. What would then not end is the pattern's fault and no failure: after so many
/// choices such a strategy goes on as a random walk, which is fair.
inline u64 pattern_length(const trail::Request& request) {
  constexpr u64 kLeast = 20'000;
  u64 usual = 4 * request.expected_choices;
  return usual > kLeast ? usual : kLeast;
}

}  // namespace duress::sched
