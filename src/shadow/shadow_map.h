// SPDX-License-Identifier: Apache-2.0
//
// From an address of the target to its shadow cell, wherever the kernel put things: a table with one
// entry per 4 GiB of the 47-bit address space (256 KiB in all). Nothing depends on address
// randomisation, on where libraries land, or on the executable being position independent. Against a
// fixed linear mapping it costs one more load, which stays in the first-level cache.
//
// An entry is the number to add to twice the address. Regions that were never touched all point to
// one region of zeroes that is only read; the first access makes the region real.
//
// A block of 64 KiB that was written as a whole needs no cells: the number of that write is kept with the
// block, and a cell of which both words are 0 then stands for it. Large blocks of the heap that are freed are
// of this kind; the program often has touched little of them, or a library did that is not instrumented.
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
    std::atomic<u32>& state = block_state(address);
    if (!(state.load(std::memory_order_relaxed) & kTouched)) touch(state);
  }
  u64 touched_blocks() const { return touched_blocks_.load(std::memory_order_relaxed); }

  /// The writes of a cell whose words are both 0: none, or the one of its whole block, which the cell then
  /// holds. Marks it as touched. Cells beside it get the write too: those of its line if they are accessed
  /// next, otherwise those of the page. REQUIRES: the cell's line is locked.
  enum class Next : u8 { kSweep, kAny };
  u64 first_access(Cell* cell, uptr address, Next next) {
    std::atomic<u32>& state = block_state(address);
    if (DURESS_LIKELY(state.load(std::memory_order_relaxed) == kTouched)) return 0;
    return first_of_block(state, cell, next);
  }
  /// Whether there is nothing to be done by first_access().
  bool is_plain(uptr address) const {
    const std::atomic<u32>* states = states_[address >> kRegionBits];
    return states && states[block_index(address)].load(std::memory_order_relaxed) == kTouched;
  }

  /// The write of the whole block that holds the address; 0: there is none.
  AccessId block_write(uptr address) const {
    const std::atomic<u32>* states = states_[address >> kRegionBits];
    return states ? states[block_index(address)].load(std::memory_order_relaxed) >> 1 : 0;
  }
  /// A write of a whole block of which no cell is in use. False: there is one, or it was written as a whole
  /// by something else than `before`.
  bool write_block(uptr block, AccessId before, AccessId id) {
    u32 expected = before << 1;
    cell(block);  // makes the region
    return block_state(block).compare_exchange_strong(expected, id << 1);
  }
  /// The same for the blocks of [begin, end), all of whose cells hold nothing else: their memory is given
  /// back. REQUIRES: all in one region. Who accesses a cell at this moment finds the write in it or here.
  void summarise(uptr begin, uptr end, AccessId id);
  /// Gives the write of a whole block to its cells. For memory of which a part is used anew.
  void spread(uptr address);

  /// Forgets all accesses to [begin, end). Cells in use by other threads at this moment may keep or lose
  /// theirs.
  void clear(uptr begin, uptr end);

  /// True if any cell of the 64 KiB block that holds the address was ever used.
  bool touched(uptr address) const {
    const std::atomic<u32>* states = states_[address >> kRegionBits];
    return states && states[block_index(address)].load(std::memory_order_relaxed) & kTouched;
  }
  /// Calls visit(Cell* first, Cell* end, uptr address of first) for every touched block.
  template <typename Visit>
  void each_block(Visit visit) {
    each_state([&](std::atomic<u32>& state, uptr at) {
      if (!(state.load(std::memory_order_relaxed) & kTouched)) return;
      Cell* first = cell(at);
      visit(first, first + (1 << (kBlockBits - 3)), at);
    });
  }
  /// Replaces each write of a whole block by renumber(AccessId). REQUIRES: nobody accesses the map.
  template <typename Renumber>
  void each_block_write(Renumber renumber) {
    each_state([&](std::atomic<u32>& state, uptr) {
      u32 now = state.load(std::memory_order_relaxed);
      if (now >> 1) state.store(renumber(now >> 1) << 1 | (now & kTouched), std::memory_order_relaxed);
    });
  }

 private:
  u64 void_entry(uptr address) const { return void_region_ - ((address & ~(kRegionBytes - 1)) << 1); }
  u64 add_region(u64 region);
  static u64 block_index(uptr address) { return (address & (kRegionBytes - 1)) >> kBlockBits; }
  /// REQUIRES: the region exists.
  std::atomic<u32>& block_state(uptr address) {
    return states_[address >> kRegionBits][block_index(address)];
  }
  u32 touch(std::atomic<u32>& state);
  u64 first_of_block(std::atomic<u32>& state, Cell* cell, Next next);
  template <typename Visit>
  void each_state(Visit visit) {
    for (u64 region = 0; region < kRegions; ++region) {
      std::atomic<u32>* states = states_[region];
      if (!states) continue;
      for (u64 block = 0; block < kRegionBytes >> kBlockBits; ++block) {
        if (states[block].load(std::memory_order_relaxed))
          visit(states[block], region << kRegionBits | block << kBlockBits);
      }
    }
  }

  static constexpr u32 kTouched = 1;  // the other bits are the number of the write of the whole block

  volatile u64* table_ = nullptr;
  std::atomic<u32>** states_ = nullptr;  // per region, a word per block
  u64 void_region_ = 0;
  std::atomic<u64> touched_blocks_{0};
  SpinLock lock_;
};

}  // namespace duress
