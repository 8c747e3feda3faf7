// SPDX-License-Identifier: Apache-2.0
#include "runtime/heap_shadow.h"

#include "base/raw.h"

namespace duress {
namespace {

/// Of the eight bits of a granule those of bytes [from, to).
constexpr u16 bits(u64 from, u64 to) {
  return static_cast<u16>((0xffu >> (8 - (to - from))) << from);
}

}  // namespace

void HeapShadow::forget_range(uptr from, u64 size) {
  for (uptr at = from & ~(kBytes - 1); at < from + size; at += kBytes) {
    if (u16* granule = find(at)) *granule = 0;
  }
}

void HeapShadow::clear() {
  if (!regions_) return;
  for (u32 i = 0; i < kRegions; ++i) {
    if (regions_[i]) unmap_memory(regions_[i], kRegionGranules * sizeof(u16));
  }
  unmap_memory(regions_, kRegions * sizeof *regions_);
  regions_ = nullptr;
}

/// Null if there is no memory for it, or no such address.
u16* HeapShadow::make(uptr address) {
  if (u16* known = find(address)) return known;
  if (address >> kAddressBits) return nullptr;
  if (!regions_) regions_ = static_cast<u16**>(map_memory(kRegions * sizeof *regions_));
  if (!regions_) return nullptr;
  u16*& region = regions_[address >> kRegionBits];
  if (!region) region = static_cast<u16*>(map_memory(kRegionGranules * sizeof(u16)));
  return find(address);
}

void HeapShadow::set(uptr from, uptr to, u16 value) {
  for (uptr at = from; at < to; at += kBytes) {
    if (u16* granule = make(at)) *granule = value;
  }
}

void HeapShadow::allocated(const Block& block, HeapCall by, bool written) {
  const uptr start = block.start, end = start + block.size;
  const u16 all = written ? 0xff << kWrittenShift : 0;
  if (block.header) set(start - kBytes, start, static_cast<u16>(kKnown | kBefore | raw(by)));
  set(start, end & ~(kBytes - 1), kKnown | kBytes | all);
  if (end % kBytes != 0) set(end & ~(kBytes - 1), end, static_cast<u16>(kKnown | end % kBytes | all));
  set((end + kBytes - 1) & ~(kBytes - 1), start + block.usable, kKnown);
  if (u16* first = find(start)) *first |= kKnown | kBegin;
}

void HeapShadow::freed(uptr start) {
  each_granule(start, [](u16& granule) {
    if (granule & (kSize | kBegin)) granule |= kFreed;
  });
}

void HeapShadow::forget(uptr start) {
  each_granule(start, [](u16& granule) { granule = 0; });
  if (granule(start - kBytes) & kBefore) *find(start - kBytes) = 0;
}

u64 HeapShadow::size_of(uptr start) const {
  u64 size = 0;
  each_granule(start, [&](u16& granule) { size += granule & kSize; });
  return size;
}

HeapShadow::Found HeapShadow::look(uptr address, u64 size) const {
  for (uptr at = address, end = address + size; at < end;) {
    const uptr next = (at & ~(kBytes - 1)) + kBytes;
    const u16 granule = this->granule(at);
    if (granule != 0) {
      if (granule & kFreed) return Found::kFreed;
      const u64 room = granule & kBefore ? 0 : granule & kSize;
      const u64 last = (next < end ? next : end) - (next - kBytes);
      if (last > room) return Found::kOutside;
    }
    at = next;
  }
  return Found::kFine;
}

void HeapShadow::wrote(uptr address, u64 size) {
  for (uptr at = address, end = address + size; at < end;) {
    const uptr begin = at & ~(kBytes - 1), next = begin + kBytes;
    const u16 written =
        static_cast<u16>(bits(at - begin, (next < end ? next : end) - begin) << kWrittenShift);
    u16* granule = find(at);
    // Most are written again and again: the page of the granule is not dirtied.
    if (granule && (*granule & kKnown) && (*granule & written) != written) *granule |= written;
    at = next;
  }
}

bool HeapShadow::never_written(uptr address, u64 size) const {
  for (uptr at = address, end = address + size; at < end;) {
    const uptr begin = at & ~(kBytes - 1), next = begin + kBytes;
    const u64 last = (next < end ? next : end) - begin;
    const u16 granule = this->granule(at);
    if ((granule & kKnown) == 0 || (granule & (kFreed | kBefore)) || last > (granule & kSize)) return false;
    if (granule >> kWrittenShift & bits(at - begin, last)) return false;
    at = next;
  }
  return size != 0;
}

HeapCall HeapShadow::call_of(uptr start) const {
  const u16 before = granule(start - kBytes);
  return before & kBefore ? static_cast<HeapCall>(before & kSize) : HeapCall::kUnknown;
}

uptr HeapShadow::begin_of(uptr address) const {
  uptr at = address & ~(kBytes - 1);
  if (granule(at) & kBefore) return at + kBytes;
  for (u16 now; ((now = granule(at)) & kKnown) && !(now & kBefore); at -= kBytes) {
    if (now & kBegin) return at;
  }
  return 0;
}

}  // namespace duress
