// SPDX-License-Identifier: Apache-2.0
//
// What one thread has read and written in its current epoch (include/duress/hooks.h). Checked bodies ask it
// inline; only accesses that it does not contain go to FastTrack. That is sound because FastTrack looks at
// the first access of an epoch only: who accesses the same bytes in between, unordered, finds that first
// access in the shadow and reports the race itself.
//
// Direct-mapped, so entries get lost, and accesses are then found to be of this epoch in the shadow. When
// that happens often the filter grows, up to a share of the shadow: threads that read a large structure
// together would otherwise all go to its shadow.
#pragma once

#include "base/types.h"
#include "duress/hooks.h"

namespace duress {

/// Threads: its own.
class EpochFilter {
 public:
  static constexpr uptr kBlockBytes = uptr{1} << DURESS_FILTER_BLOCK_BITS;
  static constexpr u64 kFewest = 256;       // entries: 18 KiB for 64 KiB of memory
  static constexpr u64 kMost = 256 * 1024;  // 18 MiB for 64 MiB

  /// `self` finds nothing, until an epoch is opened.
  static void close(DuressSelf& self) { self.filter_tag = 0; }
  static bool is_open(const DuressSelf& self) { return self.filter_tag != 0; }
  /// Goes on with the epoch that was closed; new_epoch(): with another one, of which nothing is known.
  void open(DuressSelf& self);
  void new_epoch() {
    if (++tag_ == kTags) start_over();
  }

  /// The bytes of `mask` in the granule of `address`. REQUIRES: open.
  template <bool kWrite>
  static bool contains(const DuressSelf& self, uptr address, u8 mask) {
    const DuressFilterEntry& entry = entry_of(self, address);
    const u8* masks = kWrite ? entry.written : entry.read;
    return entry.key == key_of(self, address) && (masks[granule_of(address)] & mask) == mask;
  }
  template <bool kWrite>
  static void add(DuressSelf& self, uptr address, u8 mask) {
    DuressFilterEntry& entry = entry_of(self, address);
    claim(self, entry, key_of(self, address));
    if (kWrite) entry.written[granule_of(address)] |= mask;
    entry.read[granule_of(address)] |=
        mask;  // a read after the write adds nothing: who races with it races with both
  }
  /// The same for several accesses to one block of kBlockBytes, until the filter changes otherwise.
  /// Equal accesses at equal distances, a divisor of the block, as bits of a whole block.
  struct Row {
    u64 bits[DURESS_FILTER_GRANULES / 8] = {};
    Row(uptr first, uptr step, u8 mask) {
      for (uptr at = first % step; at < kBlockBytes; at += step)
        reinterpret_cast<u8*>(bits)[granule_of(at)] |= mask;
    }
  };
  class Block {
   public:
    Block(const DuressSelf& self, uptr address)
        : entry_(entry_of(self, address)), begin_(address & ~(kBlockBytes - 1)) {
      claim(self, entry_, key_of(self, address));
    }
    bool has(uptr address) const { return address - begin_ < kBlockBytes; }
    /// False if it was contained already.
    template <bool kWrite>
    bool add(uptr address, u8 mask) {
      u32 granule = granule_of(address);
      u8& known = kWrite ? entry_.written[granule] : entry_.read[granule];
      if ((known & mask) == mask) return false;
      known |= mask;
      if (kWrite) entry_.read[granule] |= mask;
      return true;
    }
    template <bool kWrite>
    bool add(const Row& row) {
      u64 missing = 0;
      u8* masks = kWrite ? entry_.written : entry_.read;
      for (u32 i = 0; i < DURESS_FILTER_GRANULES / 8; ++i) {
        u64 known;
        __builtin_memcpy(&known, masks + 8 * i, 8);
        missing |= row.bits[i] & ~known;
        known |= row.bits[i];
        __builtin_memcpy(masks + 8 * i, &known, 8);
      }
      if (!missing) return false;
      if (kWrite) add<false>(row);
      return true;
    }

   private:
    DuressFilterEntry& entry_;
    uptr begin_;
  };
  /// Where the first block begins of which not all is contained, at most `end`; `begin` for the first.
  static uptr skip(const DuressSelf& self, uptr begin, uptr end, bool write);
  void add_range(DuressSelf& self, uptr begin, uptr end, bool write);
  /// Accesses to [begin, end) are of another location from now on.
  void remove(DuressSelf& self, uptr begin, uptr end);

  /// So many accesses of this epoch were not in the filter. True: it should grow.
  bool lost(u64 count) {
    lost_ += count;
    return lost_ > entries_ && entries_ < kMost;
  }
  /// What grow() takes more memory by.
  u64 growth() const { return (entries_ * kGrowth - entries_) * sizeof(DuressFilterEntry); }
  /// How much memory of the target it has room for then.
  u64 memory_after_growth() const { return entries_ * kGrowth * kBlockBytes; }
  u64 bytes() const { return entries_ * sizeof(DuressFilterEntry); }
  void grow(DuressSelf& self);
  /// It may not grow: not asked for again before as much was lost again.
  void stay() { lost_ = 0; }
  void release();

  /// Keeps small tables for so many threads, 64 at most: for controlled executions, whose threads take turns.
  static void keep_tables(u32 count);

 private:
  void take_table();
  void give_back();

  static constexpr u32 kTags = 1u << 16;
  static constexpr u64 kGrowth = 4;

  static u64 key_of(const DuressSelf& self, uptr address) {
    return (address & ~(kBlockBytes - 1)) << DURESS_FILTER_KEY_SHIFT | self.filter_tag;
  }
  static DuressFilterEntry& entry_of(const DuressSelf& self, uptr address) {
    return self.filter[(address >> DURESS_FILTER_BLOCK_BITS) & self.filter_index];
  }
  static u32 granule_of(uptr address) { return static_cast<u32>(address >> 3) % DURESS_FILTER_GRANULES; }
  static void claim(const DuressSelf& self, DuressFilterEntry& entry, u64 key) {
    if (entry.key == key) return;
    if (DURESS_UNLIKELY(!entry.key)) first_use(self, entry);
    entry.key = key;
    __builtin_memset(entry.read, 0, sizeof entry.read);
    __builtin_memset(entry.written, 0, sizeof entry.written);
  }
  /// preserve_most: hooks call it.
  __attribute__((preserve_most)) static void first_use(const DuressSelf& self,
                                                       const DuressFilterEntry& entry);
  void start_over();

  DuressFilterEntry* table_ = nullptr;
  u64 entries_ = 0;
  u64 lost_ = 0;
  u32 tag_ = 0;
};

}  // namespace duress
