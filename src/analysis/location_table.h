// SPDX-License-Identifier: Apache-2.0
//
// What an analysis knows of each location. Programs access words, so a state for each byte would cost eight
// look-ups and eight times the memory; but neighbours must not be mixed up, and accesses of other sizes
// overlap. So eight bytes share a cell, and a cell is a list of pieces: bytes that were always accessed
// together have one state. An access that covers a piece in part splits it. Nearly every cell has one piece.
#pragma once

#include <string.h>

#include "base/arena.h"

namespace duress {

/// State must have a default that means "never accessed" and, if it owns memory, copy(Arena&) → State and
/// drop(Arena&).
/// Threads: any; a lock for each 64 bytes of target memory, held while a state is visited.
template <typename State>
class LocationTable {
 public:
  explicit LocationTable(Arena& arena) : arena_(arena) {
    buckets_ = static_cast<std::atomic<Block*>*>(map_memory(kBuckets * sizeof(Block*)));
  }
  ~LocationTable() {
    for (Block* block = all_.load(std::memory_order_relaxed); block;) {
      Block* next = block->next_of_all;
      for (Piece*& cell : block->cells) drop(cell);
      arena_.free(block, sizeof(Block));
      block = next;
    }
    unmap_memory(buckets_, kBuckets * sizeof(Block*));
  }
  LocationTable(const LocationTable&) = delete;
  LocationTable& operator=(const LocationTable&) = delete;

  /// Calls visit(state, first byte, size) for each piece of [address, address + size); size is at most 8.
  template <typename Visit>
  void access(uptr address, u64 size, Visit visit) {
    uptr end = address + size;
    for (uptr granule = address & ~uptr{7}; granule < end; granule += 8) {
      u8 mask = 0xff;
      if (granule < address) mask &= static_cast<u8>(0xff << (address - granule));
      if (end - granule < 8) mask &= static_cast<u8>(0xff >> (8 - (end - granule)));
      Block* block = find_or_make(granule);
      SpinGuard guard(block->lock(granule));
      visit_cell(block->cell(granule), granule, mask, visit);
      if (granule == kLastGranule) return;
    }
  }

  /// The same, only where something was accessed before.
  template <typename Visit>
  void existing(uptr address, u64 size, Visit visit) {
    uptr end = address + size;
    for (uptr granule = address & ~uptr{7}; granule < end;) {
      uptr next = granule + 8;
      if (Block* block = find(granule)) {
        SpinGuard guard(block->lock(granule));
        for (Piece* p = block->cell(granule); p; p = p->next) visit(p->state);
      } else {
        next = (granule | (kBlockBytes - 1)) + 1;
      }
      if (next < granule) return;
      granule = next;
    }
  }

  /// Fresh memory: what was known of it goes.
  void forget(uptr begin, uptr end) {
    if ((end - begin) / kBlockBytes > count_.load(std::memory_order_relaxed)) {  // a reservation of terabytes
      for (Block* block = all_.load(std::memory_order_acquire); block; block = block->next_of_all) {
        uptr first = block->number * kBlockBytes;
        if (first < end && begin < first + kBlockBytes)
          forget_cells(block, first < begin ? begin : first,
                       end < first + kBlockBytes ? end : first + kBlockBytes);
      }
      return;
    }
    for (uptr granule = begin & ~uptr{7}; granule < end;) {
      uptr stop = (granule | (kBlockBytes - 1)) + 1;
      if (Block* block = find(granule)) forget_cells(block, granule, end - 1 < stop - 1 ? end : stop);
      if (stop < granule) return;
      granule = stop;
    }
  }

  template <typename Visit>
  void each(Visit visit) {
    for (Block* block = all_.load(std::memory_order_acquire); block; block = block->next_of_all) {
      for (uptr k = 0; k < kCells; ++k) {
        SpinGuard guard(block->locks[k / 8]);
        for (Piece* p = block->cells[k]; p; p = p->next) visit(p->state);
      }
    }
  }

 private:
  static constexpr uptr kBlockBytes = 4096;
  static constexpr uptr kLastGranule = ~uptr{7};  // no program has it, but a damaged trace may
  static constexpr uptr kCells = kBlockBytes / 8;
  static constexpr u32 kBuckets = 1u << 16;
  struct Piece {
    Piece* next = nullptr;
    u8 mask = 0;
    State state = {};
  };
  struct Block {
    Block* next;  // in its bucket
    Block* next_of_all;
    uptr number;
    SpinLock locks[kCells / 8];
    Piece* cells[kCells];

    Piece*& cell(uptr granule) { return cells[(granule >> 3) % kCells]; }
    SpinLock& lock(uptr granule) { return locks[(granule >> 6) % (kCells / 8)]; }
  };

  static u32 bucket(uptr number) { return static_cast<u32>((number * 0x9e3779b97f4a7c15u) >> 48); }
  Block* find(uptr address) const {
    uptr number = address / kBlockBytes;
    Block* block = buckets_[bucket(number)].load(std::memory_order_acquire);
    while (block && block->number != number) block = block->next;
    return block;
  }
  Block* find_or_make(uptr address) {
    Block* block = find(address);
    if (DURESS_LIKELY(block != nullptr)) return block;
    SpinGuard guard(lock_);
    block = find(address);
    if (block) return block;
    block = static_cast<Block*>(arena_.allocate(sizeof(Block)));
    memset(static_cast<void*>(block), 0, sizeof(Block));
    block->number = address / kBlockBytes;
    auto& head = buckets_[bucket(block->number)];
    block->next = head.load(std::memory_order_relaxed);
    block->next_of_all = all_.load(std::memory_order_relaxed);
    head.store(block, std::memory_order_release);
    all_.store(block, std::memory_order_release);
    count_.fetch_add(1, std::memory_order_relaxed);
    return block;
  }

  /// REQUIRES: the range lies in the block.
  void forget_cells(Block* block, uptr begin, uptr end) {
    for (uptr granule = begin & ~uptr{7}; granule < end; granule += 8) {
      if (!block->cell(granule)) continue;
      SpinGuard guard(block->lock(granule));
      drop(block->cell(granule));
    }
  }

  template <typename Visit>
  void visit_cell(Piece*& cell, uptr granule, u8 mask, Visit& visit) {
    if (DURESS_LIKELY(cell && cell->mask == mask && !cell->next)) return visit_piece(*cell, granule, visit);
    u8 left = mask;
    for (Piece* p = cell; p && left; p = p->next) {
      u8 common = p->mask & left;
      if (!common) continue;
      if (common != p->mask) {  // the rest of the piece gets states of its own
        u8 rest = p->mask & static_cast<u8>(~common);
        p->mask = common;
        while (rest) {
          auto* piece = arena_.make<Piece>();
          piece->mask = take_run(rest);
          if constexpr (requires { p->state.copy(arena_); }) {
            piece->state = p->state.copy(arena_);
          } else {
            piece->state = p->state;
          }
          piece->next = p->next;
          p->next = piece;
        }
      }
      left &= static_cast<u8>(~common);
      visit_piece(*p, granule, visit);
    }
    while (left) {
      auto* fresh = arena_.make<Piece>();
      fresh->mask = take_run(left);
      fresh->next = cell;
      cell = fresh;
      visit_piece(*fresh, granule, visit);
    }
  }

  /// Takes the first bytes of `mask` that follow each other: pieces have no holes.
  static u8 take_run(u8& mask) {
    u32 first = static_cast<u32>(__builtin_ctz(mask));
    u32 size = static_cast<u32>(__builtin_ctz(~(u32{mask} >> first)));
    u8 run = static_cast<u8>(((1u << size) - 1) << first);
    mask &= static_cast<u8>(~run);
    return run;
  }

  template <typename Visit>
  static void visit_piece(Piece& piece, uptr granule, Visit& visit) {
    u32 first = static_cast<u32>(__builtin_ctz(piece.mask));
    visit(piece.state, granule + first, static_cast<u32>(__builtin_popcount(piece.mask)));
  }

  void drop(Piece*& cell) {
    while (cell) {
      Piece* next = cell->next;
      if constexpr (requires { cell->state.drop(arena_); }) cell->state.drop(arena_);
      arena_.free(cell, sizeof(Piece));
      cell = next;
    }
  }

  Arena& arena_;
  SpinLock lock_;  // adding blocks
  std::atomic<Block*> all_{nullptr};
  std::atomic<u64> count_{0};  // of blocks
  std::atomic<Block*>* buckets_;
};

}  // namespace duress
