// SPDX-License-Identifier: Apache-2.0
//
// The accesses to an atomic. Atomic accesses never race with each other, so they are not ordered by the
// race-freedom that lets FastTrack keep one write epoch: two relaxed stores by two threads are both
// needed to check a later plain access. At most two entries a thread, its last read and its last
// write, found by hashing: with 300 threads an access costs what it costs with 2.
#pragma once

#include "base/arena.h"
#include "base/types.h"
#include "shadow/cell.h"

namespace duress {

/// Threads: under the lock of the SyncObject that owns it.
class AtomicHistory {
 public:
  struct Entry {
    AccessId id;  // 0: free
    u32 key;
  };
  static u32 key(Slot slot, bool write) { return u32{raw(slot)} << 1 | (write ? 1 : 0); }

  static AtomicHistory* make(Arena& arena);
  void destroy(Arena& arena);

  /// The slot for a thread's last read or write; the table grows if it must.
  Entry& entry(Arena& arena, u32 key);

  Entry* begin() { return entries_; }
  Entry* end() { return entries_ + capacity_; }

 private:
  void grow(Arena& arena);
  Entry* probe(u32 key);

  Entry* entries_;
  u32 capacity_;  // a power of two
  u32 count_;
};

}  // namespace duress
