// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks of 32-bit counters, and immutable snapshots of them.
//
// A release (unlock, release store) would copy the whole clock: with 300 threads that is 1,200 bytes
// for every unlock. Instead a thread keeps one reference-counted snapshot of what it knows and hands
// out (snapshot, own slot, own clock); only an acquire that learns something makes the next release
// copy again. Unlocking and locking the same mutex in one thread costs no copy at all.
#pragma once

#include <atomic>

#include "base/arena.h"
#include "base/types.h"

namespace duress {

using Clock = u32;
constexpr u32 kMaxSlots = 65535;
constexpr Slot kNoSlot{65535};

/// Maximum of two arrays, element by element, into the first; true if the first changed.
bool join_clocks(Clock* into, const Clock* from, u32 n);

/// A growing array of counters; what is beyond its size is 0.
/// Threads: one writer, no concurrent readers; callers lock.
class VectorClock {
 public:
  explicit VectorClock(Arena& arena) : arena_(&arena) {}
  ~VectorClock() { arena_->free(clocks_, capacity_ * sizeof(Clock)); }
  VectorClock(const VectorClock&) = delete;
  VectorClock& operator=(const VectorClock&) = delete;

  Clock get(Slot slot) const { return raw(slot) < size_ ? clocks_[raw(slot)] : 0; }
  void set(Slot slot, Clock value) {
    if (raw(slot) >= size_) grow(raw(slot) + 1u);
    clocks_[raw(slot)] = value;
  }
  bool join(const Clock* from, u32 n) {
    if (n > size_) grow(n);
    return join_clocks(clocks_, from, n);
  }
  bool join(const VectorClock& other) { return join(other.clocks_, other.size_); }
  /// True if every counter is at most the other's.
  bool before(const VectorClock& other) const;
  void clear() { size_ = 0; }

  u32 size() const { return size_; }
  const Clock* data() const { return clocks_; }

 private:
  void grow(u32 size);

  Arena* arena_;
  Clock* clocks_ = nullptr;
  u32 size_ = 0;
  u32 capacity_ = 0;
};

/// An immutable copy of a vector clock, shared by reference count.
struct ClockSnapshot {
  std::atomic<u32> references;
  u32 size;
  Clock clocks[];

  static ClockSnapshot* copy(Arena& arena, const VectorClock& clock);
  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release(Arena& arena);
};

/// What a release leaves behind for the acquire that reads it: a snapshot, and the releasing
/// thread's own counter, which is newer than the snapshot's. Empty: nothing was released.
/// Owns one reference of the snapshot. Threads: under the lock of the object that holds it.
class ReleaseClock {
 public:
  bool empty() const { return snapshot_ == nullptr; }
  Slot slot() const { return slot_; }
  Clock clock() const { return clock_; }
  const ClockSnapshot* snapshot() const { return snapshot_; }

  /// Takes over one reference of `snapshot`.
  void set(Arena& arena, ClockSnapshot* snapshot, Slot slot, Clock clock);
  /// The same snapshot, released again later.
  void renew(Slot slot, Clock clock) { slot_ = slot, clock_ = clock; }
  void copy_from(Arena& arena, const ReleaseClock& other);
  void clear(Arena& arena);
  /// Becomes the join of both (a release sequence, several read-unlocks).
  void join(Arena& arena, const ReleaseClock& other);
  /// Joins this into a clock; true if it changed.
  bool join_into(VectorClock& clock) const;
  /// True if `clock` already knows the releasing event, and so all that happens before it.
  bool known_to(const VectorClock& clock) const { return clock.get(slot_) >= clock_; }

 private:
  ClockSnapshot* snapshot_ = nullptr;
  Slot slot_{};
  Clock clock_ = 0;
};

}  // namespace duress
