// SPDX-License-Identifier: Apache-2.0
#include "sched/repetition.h"

#include "base/prng.h"

namespace duress::sched {

namespace {

/// A strand that comes to the same operation this often while nothing changes only waits for others.
constexpr u32 kPatience = 3;
/// A strand that waits and counts its attempts changes something each time. After this many equal operations
/// in one turn others go first. More than RaceFuzzer's figure 2 needs (100,000), less than the step limit.
constexpr u32 kLongTurn = 250'000;
/// The same for operations that change nothing another strand could see: locks. What is done under them is
/// not seen, so it may be work.
constexpr u32 kLongLockTurn = 10'000;

/// Operations that change nothing by themselves.
bool only_observes(OpKind kind) {
  switch (kind) {
    case OpKind::kRead:
    case OpKind::kAtomicRead:
    case OpKind::kAtomicRmw:  // one that writes another value counts as a change
    case OpKind::kTryLock:
    case OpKind::kTryReadLock:
    case OpKind::kTryAcquire:
    case OpKind::kYield:
    case OpKind::kSystem:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool Repetition::steps_back(const Operation& operation, u64 changes, u64 turns) {
  u64 key = mix(operation.object ^ mix(u64{operation.line} << 8 | raw(operation.kind)));
  Repeat& r = repeats_[key % kRepeats];
  if (r.key != key) {
    r = {key, changes, turns, 0, 0};
    return false;
  }
  bool changed = r.changes != changes;
  r.unchanged = changed ? 0 : r.unchanged + 1;
  r.in_turn = r.turn == turns ? r.in_turn + 1 : 0;
  r.changes = changes;
  r.turn = turns;
  if (only_observes(operation.kind) && r.unchanged >= kPatience) return true;
  if (r.in_turn < (changed ? kLongTurn : kLongLockTurn)) return false;
  r.in_turn = 0;
  return true;
}

bool Repetition::note_state(u64 state) {
  for (u32 i = 0; i < state_count_; ++i) {
    if (states_[i] == state) return true;
  }
  if (state_count_ == kStates) return false;
  states_[state_count_++] = state;
  return true;
}

}  // namespace duress::sched
