// SPDX-License-Identifier: Apache-2.0
//
// What a strand did at a schedule point, as far as its order with others can matter. Executions that differ
// only in the order of steps that do not conflict are one *class*: exploring one of them is enough.
//
// A step says what it did, not what it might have done: a compare-and-swap that failed has read, a try for a
// held lock has read. So two failures are never reordered. What the same step would do at another
// place follows from the state that its object has there (`predict`).
#ifndef DURESS_EXHAUSTIVE_STEP_H_
#define DURESS_EXHAUSTIVE_STEP_H_

#include "event/operation.h"

namespace duress::exhaustive {

/// Strands have numbers below this, the same number in every execution.
inline constexpr u32 kMostStrands = 64;

enum class Mode : u8 { kRead, kWrite };

/// One object that a step touches. Its state before the step is: of memory, the value; of a lock, kWriter if
/// it is held, else the number of readers; of a semaphore, the count; of a condition, who waits, a bit each.
struct Touch {
  u64 object = 0;
  u64 before = 0;
  u32 size = 1;
  Mode mode = Mode::kWrite;
};
inline constexpr u64 kWriter = u64{1} << 63;
/// Those who wait for a word of memory to be woken are an object of their own beside the word.
inline constexpr u64 kWaiters = u64{1} << 63;

/// What ends a wait. Where that is explored, a strand chooses it in a step of its own before the wait. The
/// step touches nothing: so whatever else is independent of one choice is independent of all of them. A wait
/// that ends by itself does so at once. It is never in the queue, where a signal could have woken it; and
/// when it goes on is a matter of when it gets the mutex.
enum class WaitEnd : u8 { kWoken = 0, kSpurious = 1, kTimeout = 2 };

struct Step {
  static constexpr u32 kMostTouches = 4;
  enum Flag : u8 {
    kAfter = 1,     // no step: the strand goes on because of `other`, and after all that it did
    kPending = 2,   // not done: the execution ended before
    kAwaits = 4,    // waits until one of the objects is written: it has looked at them before
    kCompares = 8,  // a compare-and-swap
    // 16 is kExchanges (silent.h)
    kHasStoreAge =
        32,  // an atomic under a memory model: `value` and `choices` are ages of stores, 0 the newest
    kEndsItself = 64  // a wait for a word that does not wait: it times out
  };
  OpKind kind = OpKind::kStart;
  u8 flags = 0;
  u8 strand = 0;
  u8 other = 0;  // kAfter: whom it goes on after; kAwaits: how many of its own last steps looked in vain
  u8 touches = 0;
  // Of a signal: 1 + the strand that it woke, 0 none. kHasStoreAge: an age. kChoose: 1 + the WaitEnd.
  u8 value = 0;
  u64 expected = 0;  // kCompares
  // A bit each: the strands that a signal could have woken; kHasStoreAge: ages; kChoose: ends.
  u64 choices = 0;
  Touch touch[kMostTouches];

  bool is(Flag flag) const { return flags & flag; }
  /// A choice as `value` has it.
  u8 value_of(u32 choice) const { return static_cast<u8>(is(kHasStoreAge) ? choice : choice + 1); }
  void add(u64 object, u32 size, Mode mode, u64 before) {
    if (touches < kMostTouches) touch[touches++] = {object, before, size, mode};
  }
};

inline bool overlap(const Touch& a, const Touch& b) {
  return a.object < b.object + b.size && b.object < a.object + a.size;
}
inline bool conflict(const Touch& a, const Touch& b) {
  return (a.mode == Mode::kWrite || b.mode == Mode::kWrite) && overlap(a, b);
}
/// Steps of different strands whose order can matter.
inline bool conflict(const Step& a, const Step& b) {
  for (u32 i = 0; i < a.touches; ++i) {
    for (u32 k = 0; k < b.touches; ++k) {
      if (conflict(a.touch[i], b.touch[k])) return true;
    }
  }
  return false;
}

/// Whether an operation of that kind can go on while its object has that state.
constexpr bool enabled(OpKind kind, u64 state) {
  switch (kind) {
    case OpKind::kLock:
      return state == 0;
    case OpKind::kReadLock:
      return !(state & kWriter);
    case OpKind::kAcquire:
      return state != 0;
    default:
      return true;
  }
}

/// Kinds that may have to wait for their object.
constexpr bool may_wait(OpKind kind) {
  return kind == OpKind::kLock || kind == OpKind::kReadLock || kind == OpKind::kAcquire;
}

/// What the step's first touch does to an object in state `touch.before`.
Mode mode_of(const Step& step, const Touch& touch);

/// The step as it would be before `earlier`, with which it conflicts.
void predict(Step& step, const Step& earlier);

}  // namespace duress::exhaustive

#endif  // DURESS_EXHAUSTIVE_STEP_H_
