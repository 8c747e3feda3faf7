// SPDX-License-Identifier: Apache-2.0
#include "sched/repetition.h"

#include "base/prng.h"

namespace duress::sched {

namespace {

/// A strand that comes to the same operation this often while nothing changes only waits for others.
constexpr u32 kPatience = 3;
/// One that observes this many different things while nothing changes may wait for any of them. It steps back
/// once, and again after as many.
constexpr u32 kLongScan = 1024;
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
  bool observes = only_observes(operation.kind);
  if (!observes || observing_since_ != changes) observed_ = 0;
  observing_since_ = changes;
  bool scans = observes && ++observed_ % kLongScan == 0;
  u64 key = mix(operation.object ^ mix(u64{operation.line} << 8 | raw(operation.kind)));
  Repeat& r = find_or_replace(key, changes, turns);
  if (r.key != key) {
    r = {key, changes, turns, 0, 0};
    return scans;
  }
  bool changed = r.changes != changes;
  r.unchanged = changed ? 0 : r.unchanged + 1;
  r.in_turn = r.turn == turns ? r.in_turn + 1 : 0;
  r.changes = changes;
  r.turn = turns;
  if (scans || (observes && r.unchanged >= kPatience)) return true;
  if (r.in_turn < (changed ? kLongTurn : kLongLockTurn)) return false;
  r.in_turn = 0;
  return true;
}

/// The entry of the key, or the one that is to become it. Keys depend on addresses; two that a loop comes to
/// in turn must not replace each other, or whether it is seen to wait would depend on where the linker put
/// its variables. So a key may lie in several places, and entries that a change or another turn has made
/// worthless go first.
Repetition::Repeat& Repetition::find_or_replace(u64 key, u64 changes, u64 turns) {
  Repeat* worthless = nullptr;
  for (u32 i = 0; i < kPlaces; ++i) {
    Repeat& r = repeats_[(key + i) % kRepeats];
    if (r.key == key) return r;
    if (!worthless && (!r.key || (r.changes != changes && r.turn != turns))) worthless = &r;
  }
  return worthless ? *worthless : repeats_[key % kRepeats];
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
