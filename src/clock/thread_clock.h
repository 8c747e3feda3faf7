// SPDX-License-Identifier: Apache-2.0
//
// What one thread knows of the others: happens-before as in SEMANTICS.md section 1, with C++20's
// fences and release sequences exactly, not an approximation of them.
//
// Epochs are lazy. After a release the thread's counter must grow before its next access, or what
// follows the release would seem to precede it. It grows when that access or a changed clock comes,
// not at the release: a lock and unlock with nothing between costs no epoch.
#pragma once

#include "base/memory_order.h"
#include "clock/vector_clock.h"

namespace duress {

/// Threads: its own thread only, except at creation and join, when the thread does not run.
class ThreadClock {
 public:
  ThreadClock(Arena& arena, Slot slot, Clock first)
      : arena_(arena), slot_(slot), clock_(arena), relaxed_(arena) {
    clock_.set(slot, first);
  }
  ~ThreadClock();

  Slot slot() const { return slot_; }
  Clock own() const { return clock_.get(slot_); }
  Clock get(Slot slot) const { return clock_.get(slot); }
  const VectorClock& clock() const { return clock_; }
  /// Grows whenever the thread learns of others' events.
  u64 acquired() const { return acquired_; }

  /// True when the access that comes next must open a new epoch; see tick_if_released().
  bool released() const { return released_; }
  /// Opens a new epoch if the current one was handed out. Returns true if it did.
  bool tick_if_released() {
    if (DURESS_LIKELY(!released_)) return false;
    tick();
    return true;
  }
  /// Opens a new epoch in any case: who knows one of the next events then also knows that it came after.
  void next_epoch() { tick(); }

  /// Acquires what a release left behind.
  void acquire(const ReleaseClock& from);
  void acquire(const VectorClock& from);
  /// Leaves behind all this thread knows. The current epoch ends.
  void release_to(ReleaseClock& into);
  /// The same, joined to what is there (read-unlock, barrier arrival).
  void release_join(ReleaseClock& into);

  void fence(MemoryOrder order);
  /// Whether relaxed stores leave something behind: what a release fence knew.
  bool fenced() const { return !release_fence_.empty(); }
  /// An atomic load of `order` read a store that left `from`.
  void atomic_load(const ReleaseClock& from, MemoryOrder order);
  /// An atomic store of `order`: `into` becomes what it leaves behind.
  void atomic_store(ReleaseClock& into, MemoryOrder order);
  /// A read-modify-write: reads `state` and leaves its successor there (release sequence).
  void atomic_rmw(ReleaseClock& state, MemoryOrder order);

 private:
  void tick();
  ClockSnapshot* snapshot();
  void changed();

  Arena& arena_;
  Slot slot_;
  bool released_ = false;  // the current counter was handed out: the next access needs a new one
  u64 acquired_ = 0;
  VectorClock clock_;
  ClockSnapshot* snapshot_ = nullptr;  // of clock_, own counter aside; null when out of date
  ReleaseClock release_fence_;         // what this thread knew at its last release fence
  VectorClock relaxed_;                // what relaxed loads have read, for the next acquire fence
};

}  // namespace duress
