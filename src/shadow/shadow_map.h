// SPDX-License-Identifier: Apache-2.0
//
// From an address of the target to its shadow cell, wherever the kernel put things: a table with one
// entry per 4 GiB of the 47-bit address space (256 KiB in all). Nothing depends on address
// randomisation, on where libraries land, or on the executable being position independent. Against a
// fixed linear mapping it costs one more load, which stays in the first-level cache.
//
// An entry is the number to add to twice the address. Regions that were never touched all point to
// one region of zeroes that is only read; the first access makes the region real.
#pragma once

#include "shadow/cell.h"

namespace duress {

/// Threads: any. Regions are only ever added.
class ShadowMap {
 public:
  static constexpr int kRegionBits = 32;
  static constexpr u64 kRegionBytes = u64{1} << kRegionBits;
  static constexpr u32 kRegions = 1u << (47 - kRegionBits);
  static constexpr int kBlockBits = 16;  // "touched" is remembered per 64 KiB of target memory

  /// Maps the table at `address` (0: anywhere, for tests). False if the kernel refuses.
  bool open(uptr address);
  void close();
  bool is_open() const { return table_ != nullptr; }

  static bool covers(uptr address) { return address >> 47 == 0; }

  /// The cell of an address in a region that may not exist yet.
  /// REQUIRES: covers(address).
  Cell* cell(uptr address) {
    u64 entry = table_[address >> kRegionBits];
    if (DURESS_UNLIKELY(entry == void_entry(address))) entry = add_region(address >> kRegionBits);
    return reinterpret_cast<Cell*>(entry + ((address & ~uptr{7}) << 1));
  }

  /// The same without a call. REQUIRES: has_region(address).
  Cell* cell_in_region(uptr address) {
    return reinterpret_cast<Cell*>(table_[address >> kRegionBits] + ((address & ~uptr{7}) << 1));
  }
  bool has_region(uptr address) const {
    return covers(address) && table_[address >> kRegionBits] != void_entry(address);
  }

  /// To be called when a cell gets its first access, so that sweeps know where to look.
  void mark_touched(uptr address) {
    u8* touched = touched_[address >> kRegionBits];
    u8& mark = touched[(address & (kRegionBytes - 1)) >> kBlockBits];
    if (mark) return;
    mark = 1;
    touched_blocks_.fetch_add(1, std::memory_order_relaxed);
  }
  u64 touched_blocks() const { return touched_blocks_.load(std::memory_order_relaxed); }

  /// Forgets all accesses to [begin, end). Cells in use by other threads at this moment may keep or lose
  /// theirs.
  void clear(uptr begin, uptr end);

  /// True if any cell of the 64 KiB block that holds the address was ever used.
  bool touched(uptr address) const {
    u8* touched = touched_[address >> kRegionBits];
    return touched && touched[(address & (kRegionBytes - 1)) >> kBlockBits];
  }
  /// Calls visit(Cell* first, Cell* end, uptr address of first) for every touched block.
  template <typename Visit>
  void each_block(Visit visit) {
    for (u64 region = 0; region < kRegions; ++region) {
      u8* touched = touched_[region];
      if (!touched) continue;
      for (u64 block = 0; block < kRegionBytes >> kBlockBits; ++block) {
        if (!touched[block]) continue;
        uptr at = region << kRegionBits | block << kBlockBits;
        Cell* first = cell(at);
        visit(first, first + (1 << (kBlockBits - 3)), at);
      }
    }
  }

 private:
  u64 void_entry(uptr address) const { return void_region_ - ((address & ~(kRegionBytes - 1)) << 1); }
  u64 add_region(u64 region);

  volatile u64* table_ = nullptr;
  u8** touched_ = nullptr;  // per region, a byte per block
  u64 void_region_ = 0;
  std::atomic<u64> touched_blocks_{0};
  SpinLock lock_;
};

}  // namespace duress
