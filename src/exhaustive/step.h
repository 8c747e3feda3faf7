// SPDX-License-Identifier: Apache-2.0
//
// What a strand did at a schedule point, as far as its order with other steps can matter. Executions that
// differ only in the order of steps that do not conflict are one equivalence *class* (a Mazurkiewicz trace):
// exploring one of them is enough.
//
// A step says what it did, not what it might have done: a failed compare-and-swap and a failed trylock are
// reads, so two failures are never reordered. What the same step would do elsewhere in the execution follows
// from the state of its object there (`predict`).
#pragma once

#include "event/operation.h"

namespace duress::exhaustive {

/// Strand numbers are below this; a strand has the same number in every execution.
inline constexpr u32 kMostStrands = 64;

enum class Mode : u8 { kRead, kWrite };

/// One object that a step touches. `before` is its state before the step: of memory, the value; of a lock,
/// kWriter if it is held exclusively, else the number of readers; of a semaphore, the count; of a condition
/// variable, its waiting strands, a bit each.
struct Touch {
  u64 object = 0;
  u64 before = 0;
  u32 size = 1;
  Mode mode = Mode::kWrite;
};
inline constexpr u64 kWriter = u64{1} << 63;
/// The queue of strands that wait on a futex word is an object of its own beside the word.
inline constexpr u64 kWaiters = u64{1} << 63;

/// What ends a wait. Where that is explored (--spurious, --timeouts), a strand chooses it in a separate step
/// before the wait. That step touches nothing, so a step that is independent of one choice is independent of
/// all of them. A wait that ends by itself ends at once: it is never in the queue, where a signal could have
/// woken it, and its strand continues as soon as it gets the mutex.
enum class WaitEnd : u8 { kWoken = 0, kSpurious = 1, kTimeout = 2 };

struct Step {
  static constexpr u32 kMostTouches = 4;
  enum Flag : u8 {
    kAfter = 1,     // not a step: the strand continues after everything that `other` has done
    kPending = 2,   // was not executed: the execution ended before
    kAwaits = 4,    // an await loop: waits until one of the objects is written; it has read them before
    kCompares = 8,  // a compare-and-swap
    // 16 is kExchanges (silent.h)
    kHasStoreAge = 32,  // an atomic under rc11: `value` and `choices` are ages of stores, 0 is the newest
    kEndsItself = 64    // a futex wait that does not block: it times out
  };
  OpKind kind = OpKind::kStart;
  u8 flags = 0;
  u8 strand = 0;
  u8 other = 0;  // kAfter: the other strand; kAwaits: how many of its own last steps were failed polls
  u8 touches = 0;
  // Signal: 1 + the strand that it woke, 0: none. kHasStoreAge: an age. kChoose: 1 + the choice.
  u8 value = 0;
  u64 expected = 0;  // kCompares
  // Alternatives, a bit each. Signal: strands it could have woken; kHasStoreAge: ages; kChoose: WaitEnds, or
  // numbers.
  u64 choices = 0;
  Touch touch[kMostTouches];

  bool is(Flag flag) const { return flags & flag; }
  /// A bit number of `choices` as `value` encodes it.
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

/// Whether b conflicts with a, or with another alternative of a: an update that wrote nothing may have one
/// that writes.
inline bool may_conflict(const Step& a, const Step& b) {
  if (conflict(a, b)) return true;
  if (a.kind != OpKind::kAtomicRmw || !(a.choices & (a.choices - 1))) return false;
  Touch written = a.touch[0];
  written.mode = Mode::kWrite;
  for (u32 k = 0; k < b.touches; ++k) {
    if (conflict(written, b.touch[k])) return true;
  }
  return false;
}

/// Whether an operation of that kind is enabled while its object has that state.
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

/// Kinds that can block on their object.
constexpr bool may_wait(OpKind kind) {
  return kind == OpKind::kLock || kind == OpKind::kReadLock || kind == OpKind::kAcquire;
}

/// Whether the step reads or writes an object in state `touch.before`.
Mode mode_of(const Step& step, const Touch& touch);

/// Changes the step to what it would be immediately before `earlier`, with which it conflicts.
void predict(Step& step, const Step& earlier);

}  // namespace duress::exhaustive
