// SPDX-License-Identifier: Apache-2.0
#include "runtime/heap_table.h"

#include <string.h>

namespace duress {

void HeapTable::place(Shard& shard, const HeapBlock& block) {
  u32 i = static_cast<u32>(hash(block.start) >> 20) & (shard.capacity - 1);
  while (shard.blocks[i].start > kTombstone && shard.blocks[i].start != block.start)
    i = (i + 1) & (shard.capacity - 1);
  if (shard.blocks[i].start == 0) ++shard.used;
  if (shard.blocks[i].start != block.start) ++shard.live;
  shard.blocks[i] = block;
}

void HeapTable::rehash(Shard& shard) {
  HeapBlock* old = shard.blocks;
  u32 old_capacity = shard.capacity;
  u32 capacity = 256;
  while (capacity < shard.live * 3) capacity *= 2;
  shard.blocks = static_cast<HeapBlock*>(arena_.allocate(capacity * sizeof(HeapBlock)));
  memset(static_cast<void*>(shard.blocks), 0, capacity * sizeof(HeapBlock));
  shard.capacity = capacity;
  shard.used = shard.live = 0;
  for (u32 i = 0; i < old_capacity; ++i) {
    if (old[i].start > kTombstone) place(shard, old[i]);
  }
  arena_.free(old, old_capacity * sizeof(HeapBlock));
}

void HeapTable::insert(const HeapBlock& block) {
  Shard& shard = shards_[hash(block.start) >> 58];
  SpinGuard guard(shard.lock);
  if ((shard.used + 1) * 4 > shard.capacity * 3) rehash(shard);
  place(shard, block);
}

HeapBlock HeapTable::remove(uptr start) {
  Shard& shard = shards_[hash(start) >> 58];
  SpinGuard guard(shard.lock);
  if (!shard.capacity) return {};
  for (u32 i = static_cast<u32>(hash(start) >> 20) & (shard.capacity - 1); shard.blocks[i].start;
       i = (i + 1) & (shard.capacity - 1)) {
    if (shard.blocks[i].start != start) continue;
    HeapBlock found = shard.blocks[i];
    shard.blocks[i].start = kTombstone;
    --shard.live;
    return found;
  }
  return {};
}

HeapBlock HeapTable::find_containing(uptr address) {
  for (Shard& shard : shards_) {
    SpinGuard guard(shard.lock);
    for (u32 i = 0; i < shard.capacity; ++i) {
      const HeapBlock& b = shard.blocks[i];
      if (b.start > kTombstone && address - b.start < b.size) return b;
    }
  }
  return {};
}

void HeapTable::lock_all() {
  for (Shard& shard : shards_) shard.lock.lock();
}
void HeapTable::unlock_all() {
  for (Shard& shard : shards_) shard.lock.unlock();
}

}  // namespace duress
