// SPDX-License-Identifier: Apache-2.0
//
// The stores to one atomic object in their modification order, as the model rc11 keeps them.
#pragma once

#include "base/check.h"
#include "memory/sc_order.h"

namespace duress::memory {

/// One store, and who read it.
struct AtomicStore {
  AtomicStore(Arena& arena, u128 what, u64 number) : value(what), id(number), readers(arena) {}

  u128 value;
  u64 id;  // in order of execution, over all locations
  Slot slot{};
  Clock epoch = 0;           // of the storing thread then; 0: the initial value, known to all
  SiteId site{};             // 0: the initial value
  bool update = false;       // a read-modify-write: nothing can come between it and what it read
  ReleaseClock released;     // what an acquire that reads it learns
  VectorClock readers;       // not a time: by slot, when that thread first read it; 0: never
  ScOrder::Kept preceding;   // itself if seq_cst, and fences before it: they precede what reads or follows it
  ScOrder::Kept by_readers;  // the same of those who read it
  ScOrder::Kept following;   // itself and its readers, if seq_cst: they follow what it overtook

  /// Whether the store, or a read of it, happens before a thread with this clock.
  bool known_to(const VectorClock& clock) const {
    if (clock.get(slot) >= epoch) return true;
    for (u32 i = 0; i < readers.size(); ++i) {
      Clock first = readers.data()[i];
      if (first && clock.get(static_cast<Slot>(i)) >= first) return true;
    }
    return false;
  }
};

/// Invariant: in modification order, the oldest first; at least one; the newest is what memory holds, as far
/// as stores were seen. Threads: one at a time.
class AtomicLocation {
 public:
  /// An operation is offered the newest of those that it could read or follow, as many as a word has bits.
  static constexpr u32 kMostOffered = 64;

  AtomicLocation(Arena& arena, uptr begin, u32 bytes)
      : address(begin), size(bytes), stale_runs(arena), arena_(arena) {}
  ~AtomicLocation() {
    remove_first(count_);
    if (room_) arena_.free(stores_, room_ * sizeof *stores_);
  }
  AtomicLocation(const AtomicLocation&) = delete;
  AtomicLocation& operator=(const AtomicLocation&) = delete;

  uptr address;
  u32 size;
  AtomicLocation* next = nullptr;  // in its bucket
  VectorClock stale_runs;          // not a time: how many reads in a row were stale, by the thread's slot
  u128 last_read = 0;
  bool was_read = false;
  u32 collect_at = 8;           // at this many stores, remove those that no thread can read
  ScOrder::Kept preceding_all;  // of stores that were removed

  u32 count() const { return count_; }
  AtomicStore& operator[](u32 i) { return *stores_[i]; }
  AtomicStore& newest() { return *stores_[count_ - 1]; }

  /// The newest store that a thread with this clock knows: it can read nothing older. 0 if it knows none.
  u32 floor(const VectorClock& clock) const {
    u32 i = count_ - 1;
    while (i > 0 && !stores_[i]->known_to(clock)) --i;
    return i;
  }

  AtomicStore& insert(u32 at, u128 value, u64 id) {
    DURESS_CHECK(at <= count_);
    if (count_ == room_) grow();
    for (u32 i = count_; i > at; --i) stores_[i] = stores_[i - 1];
    ++count_;
    return *(stores_[at] = arena_.make<AtomicStore>(arena_, value, id));
  }
  void remove_first(u32 removed = 1) {
    for (u32 i = 0; i < removed; ++i) {
      AtomicStore* first = stores_[i];
      first->released.clear(arena_);
      first->~AtomicStore();
      arena_.free(first, sizeof *first);
    }
    count_ -= removed;
    for (u32 i = 0; removed && i < count_; ++i) stores_[i] = stores_[i + removed];
  }

 private:
  void grow() {
    u32 wider = room_ ? room_ * 2 : 8;
    auto** stores = static_cast<AtomicStore**>(arena_.allocate(wider * sizeof *stores_));
    for (u32 i = 0; i < count_; ++i) stores[i] = stores_[i];
    if (room_) arena_.free(stores_, room_ * sizeof *stores_);
    stores_ = stores;
    room_ = wider;
  }

  Arena& arena_;
  u32 count_ = 0, room_ = 0;
  AtomicStore** stores_ = nullptr;
};

}  // namespace duress::memory
