// SPDX-License-Identifier: Apache-2.0
//
// Which heap blocks are alive: needed at free for the size, and in a report to say what an address
// belongs to and where it was allocated. A hash table by block start, in shards with a lock each.
#pragma once

#include "base/arena.h"

namespace duress {

struct HeapBlock {
  uptr start;  // 0: free entry
  u64 size;
  StackId stack;
  Tid thread;
};

/// Threads: any; a lock per shard.
class HeapTable {
 public:
  explicit HeapTable(Arena& arena) : arena_(arena) {}

  void insert(const HeapBlock& block);
  /// Removes and returns the block; start is 0 if it is not known.
  HeapBlock remove(uptr start);
  /// The block that holds an address. Looks at every block: for reports only.
  HeapBlock find_containing(uptr address);

  /// Threads that are not analysed, or not always, allocate and free too: they then remove what they find at
  /// an address. Else a free would be taken for that of a block that was freed long ago.
  void follow_all() { follows_all_ = true; }
  bool follows_all() const { return follows_all_; }

  void lock_all();
  void unlock_all();

 private:
  static constexpr u32 kShards = 64;
  static constexpr uptr kTombstone = 1;
  struct alignas(64) Shard {
    SpinLock lock;
    HeapBlock* blocks = nullptr;
    u32 capacity = 0;
    u32 used = 0;  // with tombstones
    u32 live = 0;
  };
  static u64 hash(uptr start) { return (start >> 4) * 0x9e3779b97f4a7c15u; }
  static void place(Shard& shard, const HeapBlock& block);
  void rehash(Shard& shard);

  Arena& arena_;
  bool follows_all_ = false;
  Shard shards_[kShards];
};

}  // namespace duress
