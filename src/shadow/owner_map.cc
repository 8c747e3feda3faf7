// SPDX-License-Identifier: Apache-2.0
#include "shadow/owner_map.h"

#include <string.h>

#include "base/check.h"

namespace duress {

OwnerMap::~OwnerMap() {
  std::atomic<Block*>* buckets = buckets_.load(std::memory_order_relaxed);
  if (!buckets) return;
  for (u32 i = 0; i < kBuckets; ++i) {
    for (Block* block = buckets[i].load(std::memory_order_relaxed); block;) {
      Block* next = block->next;
      arena_.free(block, sizeof(Block));
      block = next;
    }
  }
  unmap_memory(buckets, kBuckets * sizeof(Block*));
}

void OwnerMap::pass_on(uptr address, u8 owner) {
  Block* block = find(address);
  if (!block) {
    SpinGuard guard(lock_);
    std::atomic<Block*>* buckets = buckets_.load(std::memory_order_relaxed);
    if (!buckets) {
      buckets = static_cast<std::atomic<Block*>*>(map_memory(kBuckets * sizeof(Block*)));
      if (!buckets) fatal("out of memory for a chain of analyses");
      buckets_.store(buckets, std::memory_order_release);
    }
    block = find(address);
    if (!block) {
      block = static_cast<Block*>(arena_.allocate(sizeof(Block)));
      memset(static_cast<void*>(block), 0, sizeof(Block));
      block->number = address >> kBlockBits;
      auto& head = buckets[bucket(block->number)];
      block->next = head.load(std::memory_order_relaxed);
      head.store(block, std::memory_order_release);
    }
  }
  auto& at = block->owners[index(address)];
  u8 now = at.load(std::memory_order_relaxed);
  while (now < owner && !at.compare_exchange_weak(now, owner, std::memory_order_relaxed)) {
  }
}

void OwnerMap::clear(uptr begin, uptr end) {
  std::atomic<Block*>* buckets = buckets_.load(std::memory_order_acquire);
  if (!buckets) return;
  if ((end - begin) >> kBlockBits > kBuckets) {  // a large mapping: look at what there is
    for (u32 i = 0; i < kBuckets; ++i) {
      for (Block* block = buckets[i].load(std::memory_order_acquire); block; block = block->next) {
        for (u32 k = 0; k < sizeof block->owners; ++k) {
          uptr at = (block->number << kBlockBits) + k * 8;
          if (at + 8 > begin && at < end) block->owners[k].store(0, std::memory_order_relaxed);
        }
      }
    }
    return;
  }
  for (uptr at = begin & ~uptr{7}; at < end;) {
    Block* block = find(at);
    if (!block) {
      at = (at | ((uptr{1} << kBlockBits) - 1)) + 1;
      continue;
    }
    block->owners[index(at)].store(0, std::memory_order_relaxed);
    at += 8;
  }
}

}  // namespace duress
