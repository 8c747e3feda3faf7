// SPDX-License-Identifier: Apache-2.0
//
// The last stores to one location: W_x = v1@K1 ... vn@Kn of the JUMBLE paper, oldest first.
//
// An entry holds no vector clock. The rule asks two questions, "K_i ⊑ K_j?" and "K_j ⊑ C_t?", and a thread's
// counter answers both: it grows after every release, so a thread that knows a store's counter knows all that
// happens before that store. The second question is one comparison with the reader's clock. The first is
// asked once, when j is appended and the storing thread's clock is at hand; its answers for all i are the
// bits of one word. So an entry is 48 bytes whatever the number of threads, a store copies no clock, and
// finding what is visible costs one comparison for each entry.
#pragma once

#include "base/check.h"
#include "clock/vector_clock.h"
#include "memory/statistics.h"

namespace duress::memory {

/// A thread that accesses memory: what it knows, and its own place in clocks.
struct Viewer {
  const VectorClock& clock;
  Slot slot;
};

/// The clocks of all threads that can still access memory, for [GC1]. Threads that were created and have not
/// started yet belong to them. A thread that is left out costs behaviours, never soundness.
class ClockSource {
 public:
  /// The clock after `*cursor`, which starts at 0; null at the end.
  virtual const VectorClock* next(u32* cursor) = 0;

 protected:
  ~ClockSource() = default;
};

/// The `size` bytes of `value` from byte `offset` on. REQUIRES: 1 <= size, offset + size <= 16.
constexpr u128 bytes_of(u128 value, u32 offset, u32 size) {
  value >>= 8 * offset;
  return size == 16 ? value : value & ((u128{1} << (8 * size)) - 1);
}

/// Remembers the last stores to one location so that a racy load may be given an older one.
/// Invariant: oldest first, at least one entry; the newest is what memory holds, as far as stores were seen.
/// Threads: one at a time. Controlled mode gives that; on free threads ParallelAdversary holds a lock.
/// Runs inside the target: memory comes from the arena.
class StoreHistory {
 public:
  static constexpr u32 kMostEntries = 32;  // the paper's bound
  static constexpr u32 kMostBytes = 16;
  static constexpr u64 kStillThere = ~u64{0};

  struct Entry {
    u128 value;
    u64 from, until;  // moments between which memory held it
    u32 hides;        // bit i: entry i happens before this one. Only bits of older entries
    Clock clock;      // counter of the thread that stored; 0: the initial value, known to all
    SiteId site;      // of the store; 0 for the initial value
    Slot slot;
  };
  static_assert(sizeof(Entry) == 48);

  /// Begins with what memory holds, at a time that happens before everything (⊥).
  StoreHistory(Arena& arena, Statistics& statistics, uptr address, u32 size, u128 initial, u64 moment);
  ~StoreHistory();
  StoreHistory(const StoreHistory&) = delete;
  StoreHistory& operator=(const StoreHistory&) = delete;

  uptr begin() const { return address_; }
  uptr end() const { return address_ + size_; }
  u32 size() const { return size_; }
  u32 count() const { return count_; }
  const Entry& entry(u32 i) const { return entries_[i]; }
  const Entry& newest() const { return entries_[count_ - 1]; }

  /// [WRITE], and the compression rules as they are needed.
  /// REQUIRES: `who` opened a new epoch if it had released (ThreadClock::tick_if_released()), and has not
  /// opened one since the store: otherwise a reader that happens after the store would not be known to.
  /// `moment` is greater than that of the last store.
  void store(const Viewer& who, u128 value, SiteId site, u64 moment, ClockSource& threads);

  /// The entries that [READ] allows a thread with this clock, as bits. The newest is always among them.
  u32 visible(const VectorClock& clock) const {
    // What a hidden entry hides is hidden too, because `hides` is transitive: only visible ones are asked.
    u32 visible = all();
    for (u32 left = visible; left;) {
      u32 j = 31 - static_cast<u32>(__builtin_clz(left));
      if (clock.get(entries_[j].slot) >= entries_[j].clock) visible &= ~entries_[j].hides;
      left = visible & ((u32{1} << j) - 1);
    }
    return visible;
  }

  /// [GC1]: removes all entries that no thread can see, now or later (clocks only grow).
  void remove_invisible(ClockSource& threads);

  /// Cuts the location at an address inside it. This one keeps the lower part; `upper` must have been made
  /// for the rest. Both keep all entries, each with its part of the bytes.
  void split_into(StoreHistory& upper);

 private:
  u32 all() const { return ~u32{0} >> (kMostEntries - count_); }
  void append(const Entry& entry);
  void remove(u32 index);
  void remove_same_value(const Viewer& who, u128 value);

  Arena& arena_;
  Statistics& statistics_;
  uptr address_;
  Entry* entries_ = nullptr;
  u64 uncompressed_ = 0;  // entries there would be without the compression rules
  u16 count_ = 0, capacity_ = 0;
  u16 collect_in_ = 1;  // run [GC1] after this many stores
  u8 size_;
};

}  // namespace duress::memory
