// SPDX-License-Identifier: Apache-2.0
//
// Which analysis of a chain owns a location: RoadRunner's rule that an access goes to the tool that
// holds the location's shadow, which may pass it down the chain. One byte per eight bytes of target
// memory, in blocks that exist once something in them was passed on; everything else belongs to the
// first tool.
#pragma once

#include "base/arena.h"

namespace duress {

/// Threads: any. A location's owner only ever grows.
class OwnerMap {
 public:
  explicit OwnerMap(Arena& arena) : arena_(arena) {}
  ~OwnerMap();

  u8 owner(uptr address) const {
    const Block* block = find(address);
    return block ? block->owners[index(address)].load(std::memory_order_relaxed) : 0;
  }
  /// Makes the owner at least `owner`.
  void pass_on(uptr address, u8 owner);
  /// Fresh memory belongs to the first tool again.
  void clear(uptr begin, uptr end);

 private:
  static constexpr int kBlockBits = 12;  // target bytes per block
  static constexpr u32 kBuckets = 1u << 14;
  struct Block {
    Block* next;
    uptr number;
    std::atomic<u8> owners[1 << (kBlockBits - 3)];
  };

  static u32 index(uptr address) { return (address >> 3) & ((1u << (kBlockBits - 3)) - 1); }
  static u32 bucket(uptr number) { return static_cast<u32>((number * 0x9e3779b97f4a7c15u) >> 50); }
  Block* find(uptr address) const {
    std::atomic<Block*>* buckets = buckets_.load(std::memory_order_acquire);
    if (!buckets) return nullptr;
    uptr number = address >> kBlockBits;
    Block* block = buckets[bucket(number)].load(std::memory_order_acquire);
    while (block && block->number != number) block = block->next;
    return block;
  }

  Arena& arena_;
  SpinLock lock_;                                       // adding blocks
  std::atomic<std::atomic<Block*>*> buckets_{nullptr};  // kBuckets of them, once something was passed on
};

}  // namespace duress
