// SPDX-License-Identifier: Apache-2.0
#include "analysis/fasttrack/read_pages.h"

#include <sys/syscall.h>

#include "base/raw.h"

namespace duress {

static constexpr size_t kFirstBlockBytes = size_t{1} << 14, kMostBlockBytes = size_t{1} << 20;
static constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14

ReadPages::~ReadPages() {
  std::atomic<Region*>* regions = regions_.load(std::memory_order_relaxed);
  if (!regions) return;
  for (u32 i = 0; i < kRegions; ++i) {
    if (Region* mapped = regions[i].load(std::memory_order_relaxed)) unmap_memory(mapped, sizeof(Region));
  }
  unmap_memory(regions, kRegions * sizeof *regions);
  while (blocks_) {
    Block* next = blocks_->next;
    unmap_memory(blocks_, blocks_->bytes);
    blocks_ = next;
  }
}

/// Zeroed memory that stays. REQUIRES: locked.
void* ReadPages::take(size_t bytes) {
  bytes = (bytes + 63) & ~size_t{63};
  if (static_cast<size_t>(fresh_end_ - fresh_) < bytes) {
    // Small at first: an execution of a fork server that needs few words pays for few.
    const size_t size = !blocks_                           ? kFirstBlockBytes
                        : blocks_->bytes < kMostBlockBytes ? blocks_->bytes * 2
                                                           : kMostBlockBytes;
    auto* block = static_cast<Block*>(map_memory(size));
    if (!block) return nullptr;
    // Words are read before they are written: each page would cost two faults, and the second an interrupt of
    // all processors. What cannot be filled here is filled then.
    raw_syscall(SYS_madvise, reinterpret_cast<long>(block), static_cast<long>(size), kPopulateWrite);
    *block = {blocks_, size};
    blocks_ = block;
    fresh_ = reinterpret_cast<char*>(block) + 64;
    fresh_end_ = reinterpret_cast<char*>(block) + size;
  }
  void* result = fresh_;
  fresh_ += bytes;
  return result;
}

ReadPageWord* ReadPages::make(Slot slot, uptr granule) {
  if (ReadPageWord* known = find(slot, granule)) return known;
  if (raw(slot) >= kMostSlots) return nullptr;
  SpinGuard guard(lock_);
  std::atomic<Region*>* regions = regions_.load(std::memory_order_relaxed);
  if (!regions) {
    regions = static_cast<std::atomic<Region*>*>(map_memory(kRegions * sizeof *regions));
    if (!regions) return nullptr;
    regions_.store(regions, std::memory_order_release);
  }
  std::atomic<Region*>& region = regions[granule >> kRegionBits];
  if (!region.load(std::memory_order_relaxed)) {
    region.store(static_cast<Region*>(map_memory(sizeof(Region))), std::memory_order_release);
    if (!region.load(std::memory_order_relaxed)) return nullptr;
  }
  Region& pages = *region.load(std::memory_order_relaxed);
  std::atomic<Page*>& page = pages[(granule >> kPageBits) % std::size(pages)];
  if (!page.load(std::memory_order_relaxed)) {
    auto* made = static_cast<Page*>(take(sizeof(Page)));
    if (!made) return nullptr;
    made->next = pages_;
    pages_ = made;
    page.store(made, std::memory_order_release);
  }
  std::atomic<Leaf*>& leaf = page.load(std::memory_order_relaxed)->leaves[raw(slot) / kLeafSlots];
  if (!leaf.load(std::memory_order_relaxed))
    leaf.store(static_cast<Leaf*>(take(sizeof(Leaf))), std::memory_order_release);
  if (!leaf.load(std::memory_order_relaxed)) return nullptr;
  std::atomic<ReadPageWord*>& words = leaf.load(std::memory_order_relaxed)->words[raw(slot) % kLeafSlots];
  if (!words.load(std::memory_order_relaxed))
    words.store(static_cast<ReadPageWord*>(take(kWords * sizeof(ReadPageWord))), std::memory_order_release);
  ReadPageWord* mine = words.load(std::memory_order_relaxed);
  return mine ? mine + index_of(granule) : nullptr;
}

}  // namespace duress
