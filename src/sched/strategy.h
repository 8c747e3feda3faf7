// SPDX-License-Identifier: Apache-2.0
//
// Which strand runs next, and which of several legal values it gets: the interface of all strategies.
// A strategy is one file in strategies/, one test, one line in catalog/strategies.h, one page in
// docs/strategies.
//
// Runs inside the target, on one thread at a time: must not allocate, throw or call the C library. All
// randomness comes from the seed it is started with, so the same seed makes the same choices.
#pragma once

#include "base/prng.h"
#include "catalog/strategies.h"
#include "sched/strand_view.h"
#include "trail/execution.h"

namespace duress::sched {

/// A choice of a strand. `runnable` are the candidates, at least two, in a deterministic but otherwise
/// unspecified order. Strands that only spin are not among them while others can run.
struct Situation {
  u64 choice;  // its number
  u64 step;    // schedule points so far
  StrandView* const* runnable;
  u32 count;
  StrandView* running;  // the one that came to the point; null if it cannot go on
};

enum class ValueKind : u8 {
  kWakeOne,     // which of `count` waiters a signal wakes
  kSpurious,    // 1: a wait on a condition ends with no signal
  kEarlyTimer,  // 1: a timer may fire although other threads could run
  kCoin,
  kStoredValue,  // which of the values that a load may return, 0 is the newest
  kStorePlace,   // where an atomic store comes in modification order, 0 is the end
  kNondet,       // what the program asked for (duress::nondet)
};

class Strategy {
 public:
  /// An execution begins. The request outlives it.
  virtual void start(const trail::Request& request) = 0;
  /// One of situation.runnable.
  virtual StrandView* choose_thread(const Situation& situation) = 0;
  /// In [0, count); 0 is the default.
  virtual u32 choose_value(ValueKind kind, u32 count) = 0;
  /// What racefuzzer found; others leave the record alone.
  virtual void finish(trail::Record&) {}

 protected:
  ~Strategy() = default;  // strategies live as long as the process
};

/// The strategy of that number, or null if there is none. One object each; start() resets it.
Strategy* strategy_of(StrategyId id);

/// Defines a strategy of the table: `object` is it, for the life of the process.
#define DURESS_DEFINE_STRATEGY(identifier, object) \
  Strategy* strategy_##identifier() {              \
    return &(object);                              \
  }                                                \
  static_assert(true)

}  // namespace duress::sched
