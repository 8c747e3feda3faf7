// SPDX-License-Identifier: Apache-2.0
#include "analysis/fasttrack/read_pages.h"

#include "base/raw.h"

namespace duress {

static constexpr size_t kBlockBytes = size_t{1} << 20;

ReadPages::~ReadPages() {
  std::atomic<Region*>* regions = regions_.load(std::memory_order_relaxed);
  if (!regions) return;
  for (u32 i = 0; i < kRegions; ++i) {
    if (Region* mapped = regions[i].load(std::memory_order_relaxed)) unmap_memory(mapped, sizeof(Region));
  }
  unmap_memory(regions, kRegions * sizeof *regions);
  while (blocks_) {
    void* next = *static_cast<void**>(blocks_);
    unmap_memory(blocks_, kBlockBytes);
    blocks_ = next;
  }
}

/// Zeroed memory that stays. REQUIRES: locked.
void* ReadPages::take(size_t bytes) {
  bytes = (bytes + 63) & ~size_t{63};
  if (static_cast<size_t>(fresh_end_ - fresh_) < bytes) {
    auto* block = static_cast<char*>(map_memory(kBlockBytes));
    if (!block) return nullptr;
    *reinterpret_cast<void**>(block) = blocks_;
    blocks_ = block;
    fresh_ = block + 64;
    fresh_end_ = block + kBlockBytes;
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
