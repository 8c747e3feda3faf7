// SPDX-License-Identifier: Apache-2.0
//
// Which heap blocks are alive: needed at free for the size, and in a report to say what an address
// belongs to and where it was allocated.
//
// Most blocks are an entry of 8 bytes in a map beside the heap, one entry for 32 bytes: neighbours in the
// heap are neighbours there, and neither malloc nor free takes a lock. In programs with a million small
// blocks a hash table took a fifth of the time. What does not fit into an entry (large blocks, two that begin
// within 32 bytes) is in a hash table by block start, in shards with a lock each.
#pragma once

#include "base/arena.h"

namespace duress {

struct HeapBlock {
  uptr start;  // 0: free entry
  u64 size;
  StackId stack;
  Tid thread;
};

/// Threads: any; the hash table has a lock per shard.
class HeapTable {
 public:
  explicit HeapTable(Arena& arena) : arena_(arena) {}
  ~HeapTable();

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
  /// A block as an entry of the map; 0: none.
  ///   63    38 37   24 23      3 2      1  0
  ///   [stack ] [thread] [size   ] [offset] [1]
  struct Entry {
    static constexpr int kSizeBits = 21, kThreadBits = 14, kStackBits = 26;
    static constexpr uptr kBytes = 32;  // of the heap, of which at most one block of the map begins

    static bool fits(const HeapBlock& block);
    static u64 encode(const HeapBlock& block);
    /// `place`: of the entry's 32 bytes.
    static HeapBlock decode(u64 entry, uptr place);
  };
  static constexpr int kRegionBits = 32, kAddressBits = 47;
  static constexpr u32 kRegions = 1u << (kAddressBits - kRegionBits);
  using Region = std::atomic<u64>[(uptr{1} << kRegionBits) / Entry::kBytes];  // 1 GiB of address space
  std::atomic<u64>* entry_of(uptr address) const {
    std::atomic<Region*>* regions = regions_.load(std::memory_order_acquire);
    if (!regions || address >> kAddressBits) return nullptr;
    Region* region = regions[address >> kRegionBits].load(std::memory_order_acquire);
    return region ? &(*region)[(address & ((uptr{1} << kRegionBits) - 1)) / Entry::kBytes] : nullptr;
  }
  std::atomic<u64>* make_entry(uptr address);

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
  std::atomic<bool> some_in_shards_{false};
  // No entry is below. Globals of the executable lie below its heap: find_containing() would look at 65,536
  // entries for each (12 % of `classify` on 200 variables), and touch their pages.
  std::atomic<uptr> lowest_{~uptr{0}};
  SpinLock regions_lock_;                                // of making one
  std::atomic<std::atomic<Region*>*> regions_{nullptr};  // kRegions of them
  Shard shards_[kShards];
};

}  // namespace duress
