// SPDX-License-Identifier: Apache-2.0
#include "shadow/epoch_filter.h"

#include <string.h>

#include "base/check.h"
#include "base/raw.h"

namespace duress {
namespace {

/// [begin, end) within one block, as granules of which all, the first and the last may be covered in part.
struct Part {
  u32 first, last;  // granules, inclusive
  u8 first_mask, last_mask;

  Part(uptr begin, uptr end)
      : first(static_cast<u32>(begin >> 3) % DURESS_FILTER_GRANULES),
        last(static_cast<u32>((end - 1) >> 3) % DURESS_FILTER_GRANULES),
        first_mask(static_cast<u8>(0xff << (begin & 7))),
        last_mask(static_cast<u8>(0xff >> (7 - ((end - 1) & 7)))) {
    if (first == last) first_mask = last_mask = first_mask & last_mask;
  }
  void set_in(u8* masks) const {
    masks[first] |= first_mask;
    if (last > first + 1) memset(masks + first + 1, 0xff, last - first - 1);
    masks[last] |= last_mask;
  }
  bool is_in(const u8* masks) const {
    u8 all = static_cast<u8>((masks[first] | ~first_mask) & (masks[last] | ~last_mask));
    for (u32 i = first + 1; i < last; ++i) all &= masks[i];
    return all == 0xff;
  }
};

constexpr int kChunkBits = 16;  // of memory that is filled at once

/// Behind the entries there is a byte for each chunk of them: filled. Inline code loads the masks of two
/// granules at once before it looks whether the first is the last of its block: in the last entry that is one
/// byte more.
u64 mapped_bytes(u64 entries) {
  const u64 bytes = entries * sizeof(DuressFilterEntry);
  return bytes + (bytes >> kChunkBits) + 2;
}

/// Small tables for short executions: they are among what is put back after each of them, so most of their
/// cost is their size. They are not cleared: the next thread goes on with the numbers of their epochs.
/// Threads: one at a time.
struct KeptTables {
  static constexpr u32 kMost = 64;
  static constexpr u64 kEntries = 32;  // grows like any other
  struct {
    DuressFilterEntry* entries;
    u32 tag;
  } tables[kMost];
  u32 count;
  char *begin, *end;  // of all

  bool has(const DuressFilterEntry* table) const {
    auto* at = reinterpret_cast<const char*>(table);
    return at >= begin && at < end;
  }
};
constinit KeptTables kept = {};

}  // namespace

void EpochFilter::keep_tables(u32 count) {
  constexpr u64 kEach = (KeptTables::kEntries * sizeof(DuressFilterEntry) + 2 + 63) / 64 * 64;
  if (count > KeptTables::kMost) count = KeptTables::kMost;
  kept.count = 0;
  kept.begin = static_cast<char*>(map_memory(count * kEach + 1));
  kept.end = kept.begin ? kept.begin + count * kEach : nullptr;
  for (char* at = kept.end; at > kept.begin;) {
    at -= kEach;
    at[mapped_bytes(KeptTables::kEntries) - 1] = 1;  // see first_use()
    kept.tables[kept.count++] = {reinterpret_cast<DuressFilterEntry*>(at), 0};
  }
}

void EpochFilter::take_table() {
  if (kept.count > 0) {
    table_ = kept.tables[--kept.count].entries;
    tag_ = kept.tables[kept.count].tag;
    entries_ = KeptTables::kEntries;
    new_epoch();
    return;
  }
  table_ = static_cast<DuressFilterEntry*>(map_memory(mapped_bytes(kFewest)));
  if (!table_) fatal("out of memory for what a thread has accessed", "raise 'ulimit -v'");
  entries_ = kFewest;
}

void EpochFilter::give_back() {
  if (kept.has(table_)) {
    kept.tables[kept.count++] = {table_, tag_};
  } else {
    unmap_memory(table_, mapped_bytes(entries_));
  }
}

void EpochFilter::open(DuressSelf& self) {
  if (DURESS_UNLIKELY(!table_)) take_table();
  self.filter = table_;
  self.filter_index = entries_ - 1;
  self.filter_blocks = ~(kBlockBytes - 1);
  self.filter_tag = tag_;
}

/// The entry was never used. Filters are read, inline, before they are written: two faults for each page.
__attribute__((preserve_most)) void EpochFilter::first_use(const DuressSelf& self,
                                                           const DuressFilterEntry& entry) {
  auto* table = reinterpret_cast<u8*>(self.filter);
  const u64 bytes = (self.filter_index + 1) * sizeof(DuressFilterEntry);
  const u64 chunk = static_cast<u64>(reinterpret_cast<const u8*>(&entry) - table) >> kChunkBits;
  u8& filled = table[bytes + 1 + chunk];
  if (filled) return;
  filled = 1;
  const u64 begin = chunk << kChunkBits, size = u64{1} << kChunkBits;
  fill_pages(table + begin, begin + size < bytes ? size : bytes - begin);
}

/// The numbers of epochs are used up: old entries would look new.
void EpochFilter::start_over() {
  if (table_) memset(table_, 0, bytes());
  tag_ = 1;
}

uptr EpochFilter::skip(const DuressSelf& self, uptr begin, uptr end, bool write) {
  while (begin < end) {
    const DuressFilterEntry& entry = entry_of(self, begin);
    if (entry.key != key_of(self, begin)) return begin;
    const u8* masks = write ? entry.written : entry.read;
    uptr block_end = (begin & ~(kBlockBytes - 1)) + kBlockBytes;
    uptr stop = block_end < end ? block_end : end;
    if (!Part(begin, stop).is_in(masks)) return begin;
    begin = stop;
  }
  return end;
}

void EpochFilter::add_range(DuressSelf& self, uptr begin, uptr end, bool write) {
  if (!is_open(self) || end - begin > entries_ * kBlockBytes / 2) return;  // it would push out all the rest
  while (begin < end) {
    DuressFilterEntry& entry = entry_of(self, begin);
    claim(self, entry, key_of(self, begin));
    uptr block_end = (begin & ~(kBlockBytes - 1)) + kBlockBytes;
    uptr stop = block_end < end ? block_end : end;
    Part part(begin, stop);
    if (write) part.set_in(entry.written);
    part.set_in(entry.read);
    begin = stop;
  }
}

void EpochFilter::remove(DuressSelf& self, uptr begin, uptr end) {
  if (!table_) return;
  if (end - begin >= entries_ * kBlockBytes) {
    new_epoch();
    if (is_open(self)) self.filter_tag = tag_;
    return;
  }
  for (begin &= ~uptr{7}; begin < end;) {
    DuressFilterEntry& entry = table_[(begin >> DURESS_FILTER_BLOCK_BITS) & (entries_ - 1)];
    uptr block = begin & ~(kBlockBytes - 1);
    uptr stop = block + kBlockBytes < end ? block + kBlockBytes : end;
    if (entry.key == (block << DURESS_FILTER_KEY_SHIFT | tag_)) {
      u32 first = granule_of(begin);
      size_t count = (stop - begin + 7) / 8;
      memset(entry.read + first, 0, count);
      memset(entry.written + first, 0, count);
    }
    begin = block + kBlockBytes;
  }
}

void EpochFilter::grow(DuressSelf& self) {
  u64 more = entries_ * kGrowth;
  lost_ = 0;
  void* table = map_memory(mapped_bytes(more));
  if (!table) return;
  give_back();
  table_ = static_cast<DuressFilterEntry*>(table);
  entries_ = more;
  if (is_open(self)) open(self);
}

void EpochFilter::release() {
  if (table_) give_back();
  table_ = nullptr;
  entries_ = 0;
}

}  // namespace duress
