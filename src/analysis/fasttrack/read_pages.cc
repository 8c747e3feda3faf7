// SPDX-License-Identifier: Apache-2.0
#include "analysis/fasttrack/read_pages.h"

#include "base/raw.h"

namespace duress {

static constexpr size_t kFirstBlockBytes = size_t{1} << 14, kMostBlockBytes = size_t{1} << 18;

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
    fill_pages(block, size);
    *block = {blocks_, size};
    blocks_ = block;
    fresh_ = reinterpret_cast<char*>(block) + 64;
    fresh_end_ = reinterpret_cast<char*>(block) + size;
  }
  void* result = fresh_;
  fresh_ += bytes;
  return result;
}

/// REQUIRES: locked, like the next one.
ReadPages::Page* ReadPages::make_page(uptr granule) {
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
  if (Page* known = page.load(std::memory_order_relaxed)) return known;
  auto* made = static_cast<Page*>(take(sizeof(Page)));
  if (!made) return nullptr;
  made->next = pages_;
  pages_ = made;
  page.store(made, std::memory_order_release);
  return made;
}

ReadPages::Group* ReadPages::make_group(Page& page, u32 index) {
  if (!index) return &page.first;
  auto made = [&](std::atomic<Group*>& group) {
    if (!group.load(std::memory_order_relaxed))
      group.store(static_cast<Group*>(take(sizeof(Group))), std::memory_order_release);
    return group.load(std::memory_order_relaxed);
  };
  if (index <= kNearGroups) return made(page.near[index - 1]);
  Groups* more = page.more.load(std::memory_order_relaxed);
  if (!more || index >= more->count) {
    // The old one stays: somebody may be looking at it.
    const u32 count = index < kFewGroups ? kFewGroups : kMostSlots / kGroupSlots;
    auto* larger = static_cast<Groups*>(take(sizeof(Groups) + count * sizeof(more->of[0])));
    if (!larger) return nullptr;
    larger->count = count;
    for (u32 i = 0; more && i < more->count; ++i)
      larger->of[i].store(more->of[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
    page.more.store(larger, std::memory_order_release);
    more = larger;
  }
  return made(more->of[index]);
}

/// Gives each granule a word of its own. Returns their address; 0 if memory is short, and then nothing is
/// known of the page any more. Its thread may change the word of all meanwhile.
uptr ReadPages::expand(Entry& entry) {
  SpinGuard guard(lock_);
  ReadPageWord* words = nullptr;
  for (;;) {
    uptr old = entry.load(std::memory_order_acquire);
    if (old && !is_uniform(old)) return old;
    if (!words) words = static_cast<ReadPageWord*>(take(kWords * sizeof(ReadPageWord)));
    for (u32 i = 0; words && i < kWords; ++i) words[i].store(old & ~kUniform, std::memory_order_relaxed);
    const auto made = reinterpret_cast<uptr>(words);
    if (entry.compare_exchange_strong(old, made, std::memory_order_acq_rel)) return made;
  }
}

ReadPages::Entry* ReadPages::make_entry(Slot slot, uptr granule) {
  if (Entry* known = find_entry(slot, granule)) return known;
  if (raw(slot) >= kMostSlots) return nullptr;
  SpinGuard guard(lock_);
  Page* page = make_page(granule);
  Group* group = page ? make_group(*page, raw(slot) / kGroupSlots) : nullptr;
  return group ? &group->entries[raw(slot) % kGroupSlots] : nullptr;
}

ReadPageWord* ReadPages::make(Slot slot, uptr granule) {
  if (ReadPageWord* known = find(slot, granule)) return known;
  Entry* entry = make_entry(slot, granule);
  const uptr words = entry ? expand(*entry) : 0;
  return words ? words_at(words) + index_of(granule) : nullptr;
}

}  // namespace duress
