// SPDX-License-Identifier: Apache-2.0
#include "clock/thread_clock.h"

#include "base/check.h"

namespace duress {

ThreadClock::~ThreadClock() {
  if (snapshot_) snapshot_->release(arena_);
  release_fence_.clear(arena_);
}

void ThreadClock::tick() {
  Clock next = own() + 1;
  DURESS_CHECK(next != 0);
  clock_.set(slot_, next);
  released_ = false;
}

/// The clock is about to hold, or holds, more than the snapshot says. A counter that was handed out
/// stands for what was known then; what is acquired now needs a counter of its own.
void ThreadClock::changed() {
  ++acquired_;
  if (snapshot_) {
    snapshot_->release(arena_);
    snapshot_ = nullptr;
  }
  if (released_) tick();
}

ClockSnapshot* ThreadClock::snapshot() {
  if (!snapshot_) snapshot_ = ClockSnapshot::copy(arena_, clock_);
  snapshot_->retain();
  return snapshot_;
}

void ThreadClock::acquire(const ReleaseClock& from) {
  if (from.empty() || from.known_to(clock_)) return;
  if (from.join_into(clock_)) changed();
}

void ThreadClock::acquire(const VectorClock& from) {
  if (clock_.join(from)) changed();
}

void ThreadClock::release_to(ReleaseClock& into) {
  if (snapshot_ && into.snapshot() == snapshot_) {
    into.renew(slot_, own());  // as after locking and unlocking the same mutex: no reference to count
  } else {
    into.set(arena_, snapshot(), slot_, own());
  }
  released_ = true;
}

void ThreadClock::release_join(ReleaseClock& into) {
  ReleaseClock mine;
  release_to(mine);
  into.join(arena_, mine);
  mine.clear(arena_);
}

void ThreadClock::fence(MemoryOrder order) {
  if (acquires(order) && relaxed_.size()) {
    acquire(relaxed_);
    relaxed_.clear();
  }
  if (releases(order)) release_to(release_fence_);
}

void ThreadClock::atomic_load(const ReleaseClock& from, MemoryOrder order) {
  if (from.empty()) return;
  if (acquires(order)) {
    acquire(from);
  } else if (!from.known_to(clock_)) {
    from.join_into(relaxed_);
  }
}

void ThreadClock::atomic_store(ReleaseClock& into, MemoryOrder order) {
  if (releases(order)) {
    release_to(into);
  } else if (release_fence_.empty()) {
    into.clear(arena_);
  } else {
    into.copy_from(arena_, release_fence_);
  }
}

void ThreadClock::atomic_rmw(ReleaseClock& state, MemoryOrder order) {
  atomic_load(state, order);
  if (!releases(order)) {
    state.join(arena_, release_fence_);  // the release sequence goes on through a relaxed rmw
  } else if (state.empty() || state.known_to(clock_)) {
    release_to(state);  // what was there is part of what this thread knows
  } else {
    release_join(state);
  }
}

}  // namespace duress
