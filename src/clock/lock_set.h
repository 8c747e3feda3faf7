// SPDX-License-Identifier: Apache-2.0
//
// Sets of held locks, interned: a set is a small number, and "the set with this lock added" is one
// look-up. An access record keeps the number, so a report can say what both threads held.
#pragma once

#include "base/arena.h"

namespace duress {

/// A held lock: its address, and whether only for reading.
struct HeldLock {
  uptr address : 63;
  bool shared : 1;
  bool operator==(const HeldLock&) const = default;
};
static_assert(sizeof(HeldLock) == sizeof(uptr));  // a server has a set for each of its thousand item locks

/// Threads: any; one lock, taken when a set changes to one that was not the thread's last.
class LockSets {
 public:
  /// Beyond this many different sets, kUnknown is handed out: reports then say so.
  static constexpr u16 kLimit = 65000;
  static constexpr LockSetId kUnknown{65535};
  static constexpr u32 kLongest = 64;

  explicit LockSets(Arena& arena);
  ~LockSets();

  LockSetId add(LockSetId set, HeldLock lock);
  LockSetId remove(LockSetId set, HeldLock lock);

  /// The locks of `set`, all as exclusive, that also `held` has: in any mode for a read, exclusively for a
  /// write. What Eraser calls refining; with kUnknown nothing is known to be missing.
  LockSetId refine(LockSetId set, LockSetId held, bool write);
  /// What a location's first refinement starts from: all of `held` that protects such an access.
  LockSetId protecting(LockSetId held, bool write);
  /// Is some lock in both, in one of them exclusively? Then the two accesses cannot be at the same time.
  bool exclude(LockSetId a, LockSetId b) const;

  /// The locks of a set, in the order they were taken. Null for the empty and the unknown set.
  const HeldLock* locks(LockSetId set, u32* count) const;

  void reset_lock() { new (&lock_) SpinLock; }

 private:
  struct Set {
    Set* next_in_bucket;
    u32 count;
    LockSetId id;
    HeldLock locks[];
  };
  static constexpr u32 kBuckets = 1u << 12;

  LockSetId intern(const HeldLock* locks, u32 count);

  Arena& arena_;
  SpinLock lock_;
  Set* buckets_[kBuckets] = {};
  std::atomic<Set*>* sets_;  // by id
  u32 used_ = 1;             // 0 is the empty set
};

}  // namespace duress
