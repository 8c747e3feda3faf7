// SPDX-License-Identifier: Apache-2.0
//
// Which index of the vector clocks a thread gets. A program may start a hundred thousand threads one
// after the other; clocks must not grow with all that ever ran.
//
// A dead thread's slot can be handed to a new thread, its counter going on, exactly when the dead
// thread's last event happens before the new thread's creation: then nobody can know the new
// thread's counter without knowing all of the old thread's. A thread that is never joined (detached)
// leaves a slot that no creator knows; such slots are only reused once there are kPlenty of them.
// That treats the two threads as ordered: races between them may then be missed, none is invented.
#pragma once

#include "base/check.h"
#include "clock/vector_clock.h"

namespace duress {

/// Threads: callers lock.
class Slots {
 public:
  static constexpr u32 kPlenty = 4096;

  explicit Slots(Arena& arena) : last_(arena) {}

  struct Taken {
    Slot slot;
    Clock first;  // the counter the new thread starts with
  };

  /// A slot for a thread that is created by one that knows `creator`.
  Taken take(const VectorClock& creator) {
    u32 scanned = 0;
    for (u32 i = dead_head_; i != kNone && scanned < 64; i = next_[i], ++scanned) {
      if (creator.get(static_cast<Slot>(i)) >= last_.get(static_cast<Slot>(i))) return reuse(i);
    }
    if (dead_ >= kPlenty) {
      ++inexact_;
      return reuse(dead_head_);
    }
    DURESS_CHECK(used_ < kMaxSlots);
    u32 i = used_++;
    next_[i] = previous_[i] = kNone;
    return {static_cast<Slot>(i), 1};
  }

  /// The thread in `slot` has ended; `last` is the last counter it used.
  void give_back(Slot slot, Clock last) {
    u32 i = raw(slot);
    last_.set(slot, last);
    next_[i] = kNone;
    previous_[i] = dead_tail_;
    (dead_tail_ == kNone ? dead_head_ : next_[dead_tail_]) = static_cast<u16>(i);
    dead_tail_ = static_cast<u16>(i);
    ++dead_;
  }

  u32 used() const { return used_; }
  /// How often a slot was reused although the threads were not ordered.
  u64 inexact() const { return inexact_; }

 private:
  static constexpr u16 kNone = 65535;

  Taken reuse(u32 i) {
    u16 next = next_[i], previous = previous_[i];
    (previous == kNone ? dead_head_ : next_[previous]) = next;
    (next == kNone ? dead_tail_ : previous_[next]) = previous;
    --dead_;
    return {static_cast<Slot>(i), last_.get(static_cast<Slot>(i)) + 1};
  }

  VectorClock last_;  // the last counter of each dead slot
  u16 next_[65536];   // doubly linked list of dead slots, oldest first
  u16 previous_[65536];
  u16 dead_head_ = kNone, dead_tail_ = kNone;
  u32 dead_ = 0, used_ = 0;
  u64 inexact_ = 0;
};

}  // namespace duress
