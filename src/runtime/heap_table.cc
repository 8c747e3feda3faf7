// SPDX-License-Identifier: Apache-2.0
#include "runtime/heap_table.h"

#include <string.h>

#include "base/raw.h"

namespace duress {

bool HeapTable::Entry::fits(const HeapBlock& block) {
  return block.start % 8 == 0 && block.size >> kSizeBits == 0 && raw(block.thread) >> kThreadBits == 0 &&
         raw(block.stack) >> kStackBits == 0;
}

u64 HeapTable::Entry::encode(const HeapBlock& block) {
  u64 entry = raw(block.stack);
  entry = entry << kThreadBits | raw(block.thread);
  entry = entry << kSizeBits | block.size;
  return entry << 3 | block.start % kBytes / 8 << 1 | 1;
}

HeapBlock HeapTable::Entry::decode(u64 entry, uptr place) {
  auto take = [&](int bits) {
    const u64 field = entry & ((u64{1} << bits) - 1);
    entry >>= bits;
    return field;
  };
  take(1);
  HeapBlock block;
  block.start = place + take(2) * 8;
  block.size = take(kSizeBits);
  block.thread = static_cast<Tid>(take(kThreadBits));
  block.stack = static_cast<StackId>(entry);
  return block;
}

HeapTable::~HeapTable() {
  std::atomic<Region*>* regions = regions_.load(std::memory_order_relaxed);
  if (!regions) return;
  for (u32 i = 0; i < kRegions; ++i) {
    if (Region* region = regions[i].load(std::memory_order_relaxed)) unmap_memory(region, sizeof(Region));
  }
  unmap_memory(regions, kRegions * sizeof *regions);
}

/// Null if there is no memory for it, or no such address.
std::atomic<u64>* HeapTable::make_entry(uptr address) {
  std::atomic<u64>* known = entry_of(address);
  if (DURESS_LIKELY(known != nullptr) || address >> kAddressBits) return known;
  SpinGuard guard(regions_lock_);
  std::atomic<Region*>* regions = regions_.load(std::memory_order_relaxed);
  if (!regions) {
    regions = static_cast<std::atomic<Region*>*>(map_memory(kRegions * sizeof *regions));
    if (!regions) return nullptr;
    regions_.store(regions, std::memory_order_release);
  }
  std::atomic<Region*>& region = regions[address >> kRegionBits];
  if (!region.load(std::memory_order_relaxed))
    region.store(static_cast<Region*>(map_memory(sizeof(Region))), std::memory_order_release);
  return entry_of(address);
}

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
  if (DURESS_LIKELY(Entry::fits(block))) {
    std::atomic<u64>* entry = make_entry(block.start);
    u64 old = entry ? entry->load(std::memory_order_relaxed) : 1;
    const uptr place = block.start & ~(Entry::kBytes - 1);
    uptr lowest = lowest_.load(std::memory_order_relaxed);
    while (DURESS_UNLIKELY(place < lowest) && !lowest_.compare_exchange_weak(lowest, place)) {
    }
    if (entry && (!old || Entry::decode(old, place).start == block.start) &&
        entry->compare_exchange_strong(old, Entry::encode(block), std::memory_order_acq_rel))
      return;
  }
  some_in_shards_.store(true, std::memory_order_relaxed);
  Shard& shard = shards_[hash(block.start) >> 58];
  SpinGuard guard(shard.lock);
  if ((shard.used + 1) * 4 > shard.capacity * 3) rehash(shard);
  place(shard, block);
}

HeapBlock HeapTable::remove(uptr start) {
  if (std::atomic<u64>* entry = entry_of(start)) {
    u64 old = entry->load(std::memory_order_acquire);
    if (old) {
      HeapBlock block = Entry::decode(old, start & ~(Entry::kBytes - 1));
      if (block.start == start && entry->compare_exchange_strong(old, 0, std::memory_order_acq_rel))
        return block;
    }
  }
  if (!some_in_shards_.load(std::memory_order_relaxed)) return {};
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
  uptr place = address & ~(Entry::kBytes - 1);
  const uptr first = place >> Entry::kSizeBits ? place - (uptr{1} << Entry::kSizeBits) : 0;
  const uptr lowest = lowest_.load(std::memory_order_relaxed);
  for (; place > first && place >= lowest; place -= Entry::kBytes) {
    std::atomic<u64>* entry = entry_of(place);
    const u64 found = entry ? entry->load(std::memory_order_acquire) : 0;
    if (!found) continue;
    const HeapBlock block = Entry::decode(found, place);
    if (address - block.start < block.size) return block;
  }
  if (!some_in_shards_.load(std::memory_order_relaxed)) return {};
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
  regions_lock_.lock();
  for (Shard& shard : shards_) shard.lock.lock();
}
void HeapTable::unlock_all() {
  for (Shard& shard : shards_) shard.lock.unlock();
  regions_lock_.unlock();
}

}  // namespace duress
