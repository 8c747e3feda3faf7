// SPDX-License-Identifier: Apache-2.0
#include "memory/future_values.h"

#include <string.h>

#include "base/prng.h"

namespace duress::memory {
namespace {

u64 hash_of(u64 a, u64 b) {
  return mix(a * 0x9e3779b97f4a7c15u ^ b);
}

/// What a store writes in the `size` bytes from `offset` on.
u128 value_in(Source source, u64 offset, u64 size) {
  u128 value = 0;
  for (u64 i = 0; i < size; ++i) value |= u128{source.at(offset + i)} << 8 * i;
  return value;
}

bool same_load(const trail::Prediction& a, const trail::Prediction& b) {
  return a.strand == b.strand && a.site == b.site && a.ordinal == b.ordinal;
}

bool contains(Extent outer, Extent inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

}  // namespace

u32 LoadCounter::next(u32 strand, u32 site) {
  Count*& bucket = buckets_[hash_of(strand, site) % kBuckets];
  for (Count* c = bucket; c; c = c->next) {
    if (c->strand == strand && c->site == site) return ++c->count;
  }
  bucket = new (arena_.allocate(sizeof(Count))) Count{strand, site, 1, bucket};
  return 1;
}

// ---- profile

FutureProfile::Reads** FutureProfile::find(Extent extent) {
  Reads** link = &buckets_[hash_of(extent.begin, 0) % kBuckets];
  while (*link && ((*link)->extent.begin != extent.begin || (*link)->extent.end != extent.end))
    link = &(*link)->next;
  return link;
}

void FutureProfile::load(const Viewer& who, const DynamicLocation& where, Extent extent, const u128* visible,
                         u32 count) {
  Reads** link = find(extent);
  if (!*link) *link = new (arena_.allocate(sizeof(Reads))) Reads{extent, nullptr, 0, 0, {}};
  if (extent.begin < begin_) begin_ = extent.begin;
  if (extent.end > end_) end_ = extent.end;
  Reads& reads = **link;
  Read& read = reads.ring[reads.at];
  reads.at = (reads.at + 1) % kMostReads;
  if (reads.count < kMostReads) ++reads.count;
  read.order = ++loads_;
  read.where = where;
  read.slot = who.slot;
  read.clock = who.clock.get(who.slot);
  read.visible_count = static_cast<u8>(count < kMostVisible ? count : kMostVisible);
  for (u32 i = 0; i < read.visible_count; ++i) read.visible[i] = visible[i];
}

void FutureProfile::store(const Viewer& who, Extent extent, Source value) {
  if (!loads_ || extent.size() > StoreHistory::kMostBytes) return;
  for (uptr begin = extent.begin; begin < extent.end; ++begin) {
    for (Reads* reads = buckets_[hash_of(begin, 0) % kBuckets]; reads; reads = reads->next) {
      if (reads->extent.begin != begin || !contains(extent, reads->extent)) continue;
      u128 stored = value_in(value, begin - extent.begin, reads->extent.size());
      for (u32 i = 0; i < reads->count; ++i) {
        const Read& read = reads->ring[i];
        if (who.clock.get(read.slot) >= read.clock) continue;  // the load happens before the store
        bool visible = false;
        for (u32 k = 0; k < read.visible_count; ++k) visible |= read.visible[k] == stored;
        if (!visible) promise(read, reads->extent, stored);
      }
    }
  }
}

/// G_l := G_l + value, in its place among the loads.
void FutureProfile::promise(const Read& read, Extent extent, u128 value) {
  if (!orders_) orders_ = static_cast<u64*>(arena_.allocate(most_ * sizeof(u64)));
  trail::Prediction made = {read.where.strand,
                            read.where.site,
                            read.where.ordinal,
                            static_cast<u32>(extent.size()),
                            {static_cast<u64>(value), static_cast<u64>(value >> 64)}};
  // Thousands may be listed, and a store can promise its value to 64 loads.
  u64 at = 0;
  for (u64 end = *count_; at < end;) {
    u64 middle = at + (end - at) / 2;
    if (orders_[middle] < read.order) {
      at = middle + 1;
    } else {
      end = middle;
    }
  }
  for (; at < *count_ && orders_[at] == read.order; ++at) {  // after its earlier values
    if (out_[at] == made) return;
  }
  if (*count_ == most_) return;
  memmove(out_ + at + 1, out_ + at, (*count_ - at) * sizeof(trail::Prediction));
  memmove(orders_ + at + 1, orders_ + at, (*count_ - at) * sizeof(u64));
  out_[at] = made;
  orders_[at] = read.order;
  ++*count_;
}

void FutureProfile::forget(Extent extent) {
  if (extent.begin >= end_ || extent.end <= begin_) return;
  // Blocks are freed often and loads are few: look at each remembered location.
  for (Reads*& bucket : buckets_) {
    for (Reads** link = &bucket; *link;) {
      Reads* reads = *link;
      if (reads->extent.begin < extent.end && extent.begin < reads->extent.end) {
        *link = reads->next;
        arena_.free(reads, sizeof(Reads));
      } else {
        link = &reads->next;
      }
    }
  }
}

// ---- speculation

bool SpeculativeReads::add(const Viewer& who, Extent extent, u128 value) {
  if (count_ == kMost) return false;
  unvalidated_[count_++] = {extent, value, who.clock.get(who.slot), who.slot};
  return true;
}

void SpeculativeReads::store(const Viewer& who, Extent extent, Source value) {
  for (u32 i = 0; i < count_;) {
    const Unvalidated& read = unvalidated_[i];
    if (contains(extent, read.extent) && who.clock.get(read.slot) < read.clock &&
        value_in(value, read.extent.begin - extent.begin, read.extent.size()) == read.value) {
      unvalidated_[i] = unvalidated_[--count_];
    } else {
      ++i;
    }
  }
}

bool SpeculativeReads::hopeless(ClockSource& threads) const {
  for (u32 i = 0; i < count_; ++i) {
    bool known_to_all = true;
    u32 cursor = 0;
    while (const VectorClock* clock = threads.next(&cursor)) {
      known_to_all = known_to_all && clock->get(unvalidated_[i].slot) >= unvalidated_[i].clock;
    }
    if (known_to_all) return true;
  }
  return false;
}

// ---- predictions

Predictions::Predictions(Arena& arena, const trail::Prediction* list, u32 count) {
  if (!count) return;
  for (slots_ = 4; slots_ < u64{2} * count;) slots_ *= 2;
  table_ = static_cast<const trail::Prediction**>(arena.allocate(slots_ * sizeof *table_));
  memset(table_, 0, slots_ * sizeof *table_);
  for (u32 i = 0; i < count; ++i) {
    u64 at = hash_of(u64{list[i].strand} << 32 | list[i].site, list[i].ordinal);
    // The first prediction of a load counts. Others would only fill the places where later searches look.
    const trail::Prediction* held;
    while ((held = table_[at & (slots_ - 1)]) && !same_load(*held, list[i])) ++at;
    if (!held) table_[at & (slots_ - 1)] = &list[i];
  }
}

const trail::Prediction* Predictions::find(const DynamicLocation& where) const {
  if (!slots_) return nullptr;
  u64 at = hash_of(u64{where.strand} << 32 | where.site, where.ordinal);
  while (const trail::Prediction* p = table_[at & (slots_ - 1)]) {
    if (DynamicLocation{p->strand, p->site, p->ordinal} == where) return p;
    ++at;
  }
  return nullptr;
}

}  // namespace duress::memory
