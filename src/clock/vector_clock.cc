// SPDX-License-Identifier: Apache-2.0
#include "clock/vector_clock.h"

#include <string.h>

namespace duress {

bool join_clocks(Clock* into, const Clock* from, u32 n) {
  // Branch-free, so that the compiler makes vectors of it: 300 counters take about 60 ns.
  Clock changed = 0;
  for (u32 i = 0; i < n; ++i) {
    Clock a = into[i], b = from[i];
    Clock m = a > b ? a : b;
    changed |= m ^ a;
    into[i] = m;
  }
  return changed != 0;
}

void VectorClock::grow(u32 size) {
  if (size > capacity_) {
    u32 capacity = capacity_ ? capacity_ * 2 : 8;
    while (capacity < size) capacity *= 2;
    auto* clocks = static_cast<Clock*>(arena_->allocate(capacity * sizeof(Clock)));
    if (size_) memcpy(clocks, clocks_, size_ * sizeof(Clock));
    arena_->free(clocks_, capacity_ * sizeof(Clock));
    clocks_ = clocks;
    capacity_ = capacity;
  }
  memset(clocks_ + size_, 0, (size - size_) * sizeof(Clock));
  size_ = size;
}

bool VectorClock::before(const VectorClock& other) const {
  for (u32 i = 0; i < size_; ++i) {
    if (clocks_[i] > other.get(static_cast<Slot>(i))) return false;
  }
  return true;
}

static size_t snapshot_bytes(u32 size) {
  return sizeof(ClockSnapshot) + size * sizeof(Clock);
}

ClockSnapshot* ClockSnapshot::copy(Arena& arena, const VectorClock& clock) {
  auto* snapshot = static_cast<ClockSnapshot*>(arena.allocate(snapshot_bytes(clock.size())));
  new (&snapshot->references) std::atomic<u32>(1);
  snapshot->size = clock.size();
  if (clock.size()) memcpy(snapshot->clocks, clock.data(), clock.size() * sizeof(Clock));
  return snapshot;
}

void ClockSnapshot::release(Arena& arena) {
  if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) arena.free(this, snapshot_bytes(size));
}

void ReleaseClock::set(Arena& arena, ClockSnapshot* snapshot, Slot slot, Clock clock) {
  ClockSnapshot* old = snapshot_;
  snapshot_ = snapshot;
  slot_ = slot;
  clock_ = clock;
  if (old) old->release(arena);
}

void ReleaseClock::copy_from(Arena& arena, const ReleaseClock& other) {
  if (other.snapshot_) other.snapshot_->retain();
  set(arena, other.snapshot_, other.slot_, other.clock_);
}

void ReleaseClock::clear(Arena& arena) {
  set(arena, nullptr, Slot{0}, 0);
}

bool ReleaseClock::join_into(VectorClock& clock) const {
  if (empty()) return false;
  bool changed = clock.join(snapshot_->clocks, snapshot_->size);
  if (slot_ != kNoSlot && clock.get(slot_) < clock_) {
    clock.set(slot_, clock_);
    changed = true;
  }
  return changed;
}

void ReleaseClock::join(Arena& arena, const ReleaseClock& other) {
  if (other.empty() || &other == this) return;
  if (empty()) return copy_from(arena, other);
  VectorClock mine(arena), theirs(arena);
  join_into(mine);
  other.join_into(theirs);
  if (theirs.before(mine)) return;
  if (mine.before(theirs)) return copy_from(arena, other);
  // No single release implies both, so known_to() must never hold: name a slot that no thread has.
  mine.join(theirs);
  set(arena, ClockSnapshot::copy(arena, mine), kNoSlot, 1);
}

}  // namespace duress
