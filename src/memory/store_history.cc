// SPDX-License-Identifier: Apache-2.0
#include "memory/store_history.h"

#include <string.h>

namespace duress::memory {

StoreHistory::StoreHistory(Arena& arena, Statistics& statistics, uptr address, u32 size, u128 initial,
                           u64 moment)
    : arena_(arena), statistics_(statistics), address_(address), size_(static_cast<u8>(size)) {
  DURESS_CHECK(size >= 1 && size <= kMostBytes);
  append({bytes_of(initial, 0, size), moment, kStillThere, 0, 0, SiteId{0}, Slot{0}});
}

StoreHistory::~StoreHistory() {
  arena_.free(entries_, capacity_ * sizeof(Entry));
}

void StoreHistory::append(const Entry& entry) {
  if (count_ == capacity_) {
    DURESS_CHECK(count_ < kMostEntries);
    u16 capacity = capacity_ ? static_cast<u16>(capacity_ * 2) : 4;
    auto* entries = static_cast<Entry*>(arena_.allocate(capacity * sizeof(Entry)));
    if (count_) memcpy(entries, entries_, count_ * sizeof(Entry));
    arena_.free(entries_, capacity_ * sizeof(Entry));
    entries_ = entries;
    capacity_ = capacity;
  }
  entries_[count_++] = entry;
  ++uncompressed_;
}

void StoreHistory::remove(u32 index) {
  memmove(entries_ + index, entries_ + index + 1, (count_ - index - 1) * sizeof(Entry));
  --count_;
  u32 below = (u32{1} << index) - 1;
  for (u32 j = index; j < count_; ++j) {
    u32 hides = entries_[j].hides;
    entries_[j].hides = (hides & below) | (hides >> 1 & ~below);
  }
}

/// [GC2]: an older entry of the same value and time says nothing that the new one does not. The paper asks
/// for equal clocks; the same counter of the same thread is enough, because everybody else learns of both
/// stores or of neither. The new entry hides all that the old one hid, and is visible wherever that was.
void StoreHistory::remove_same_value(const Viewer& who, u128 value) {
  Clock own = who.clock.get(who.slot);
  for (u32 i = count_; i-- > 0;) {
    const Entry& e = entries_[i];
    if (e.slot == who.slot && e.clock == own && e.value == value) {
      remove(i);
      ++statistics_.gc2;
    }
  }
}

void StoreHistory::remove_invisible(ClockSource& threads) {
  u32 count = 0, invisible = all();
  u32 cursor = 0;
  while (const VectorClock* clock = threads.next(&cursor)) {
    ++count;
    invisible &= ~visible(*clock);
  }
  // Whoever removes one of these must remove all. What an invisible entry hides is invisible too, because
  // `hides` is transitive; so nothing can be seen again, even if some thread was left out.
  if (count == 0) invisible = 0;
  for (u32 i = invisible ? count_ : 0; i-- > 0;) {
    if (invisible >> i & 1) {
      remove(i);
      ++statistics_.gc1;
    }
  }
  // At every store with few threads; with many, so rarely that a store looks at about 16 clocks for each
  // entry.
  u32 pause = 1 + count / 16;
  collect_in_ = static_cast<u16>(pause < 65535 ? pause : 65535);
}

void StoreHistory::store(const Viewer& who, u128 value, SiteId site, u64 moment, ClockSource& threads) {
  value = bytes_of(value, 0, size_);
  entries_[count_ - 1].until = moment;
  remove_same_value(who, value);
  bool collect = --collect_in_ == 0;
  if (collect && count_ == kMostEntries) {
    remove_invisible(threads);
    collect = false;
  }
  if (count_ == kMostEntries) {
    remove(0);  // [REMOVE OLDEST]. The oldest hides nothing, so nothing becomes visible that was not
    ++statistics_.remove_oldest;
  }
  u32 known = 0;
  for (u32 i = 0; i < count_; ++i) {
    if (who.clock.get(entries_[i].slot) >= entries_[i].clock) known |= u32{1} << i;
  }
  // With exact clocks this adds nothing. Where a slot was reused inexactly (clock/slots.h), the order is
  // coarser than happens-before and not transitive by itself; remove_invisible() needs it to be.
  u32 hides = known;
  for (u32 i = 0; i < count_; ++i) {
    if (known >> i & 1) hides |= entries_[i].hides;
  }
  append({value, moment, kStillThere, hides, who.clock.get(who.slot), site, who.slot});
  if (collect) remove_invisible(threads);
  if (statistics_.largest < count_) statistics_.largest = count_;
  if (statistics_.largest_uncompressed < uncompressed_) statistics_.largest_uncompressed = uncompressed_;
}

void StoreHistory::split_into(StoreHistory& upper) {
  u32 lower = static_cast<u32>(upper.address_ - address_);
  DURESS_CHECK(lower > 0 && lower < size_ && upper.end() == end());
  upper.count_ = 0;
  for (u32 i = 0; i < count_; ++i) {
    Entry& e = entries_[i];
    Entry part = e;
    part.value = bytes_of(e.value, lower, upper.size_);
    upper.append(part);
    e.value = bytes_of(e.value, 0, lower);
  }
  upper.uncompressed_ = uncompressed_;
  upper.collect_in_ = collect_in_;
  size_ = static_cast<u8>(lower);
  ++statistics_.splits;
}

}  // namespace duress::memory
