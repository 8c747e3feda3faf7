// SPDX-License-Identifier: Apache-2.0
//
// What does not fit in a cell: more than two writers of different bytes (WriteSpill), and concurrent
// readers (ReadSet), FastTrack's read vector clock. Blocks are multiples of 32 bytes, named by a
// 26-bit index, so a cell can hold one.
#pragma once

#include "shadow/cell.h"

namespace duress {

/// The last write of each byte.
struct WriteSpill {
  AccessId ids[8];

  /// The bytes whose last write is another one.
  u8 without(AccessId id) const {
    u8 result = 0;
    for (u32 byte = 0; byte < 8; ++byte) result |= static_cast<u8>((ids[byte] != id) << byte);
    return result;
  }
};

/// The reads of a cell that no later access of the same bytes is known to follow.
struct ReadSet {
  u16 count;
  u8 log_units;
  u8 reserved;

  u32 capacity() const { return ((32u << log_units) - 4) / 5; }
  AccessId* ids() { return reinterpret_cast<AccessId*>(this + 1); }
  u8* masks() { return reinterpret_cast<u8*>(ids() + capacity()); }  // which bytes each read

  void remove(u32 i) {
    --count;
    ids()[i] = ids()[count];
    masks()[i] = masks()[count];
  }
};
static_assert(sizeof(ReadSet) == 4);

/// Threads: any; one lock. Blocks belong to the cell that names them, under that cell's lock.
class SpillPool {
 public:
  static constexpr int kClasses = 16;  // sizes: 1, 2, 4 ... units

  SpillPool();
  ~SpillPool();

  u32 make_writes();
  WriteSpill& writes(u32 index) const { return *static_cast<WriteSpill*>(at(index)); }
  void free_writes(u32 index) { free_block(index, 0); }

  u32 make_reads();
  ReadSet& reads(u32 index) { return *static_cast<ReadSet*>(at(index)); }
  void free_reads(u32 index) { free_block(index, reads(index).log_units); }
  /// Adds a read, moving the set if it is full; returns the set's index afterwards.
  u32 add_read(u32 index, AccessId id, u8 mask);

  u32 units_in_use() const { return in_use_; }
  void reset_lock() { new (&lock_) SpinLock; }

 private:
  static constexpr u32 kUnit = 32;

  void* at(u32 index) const { return units_ + size_t{index} * kUnit; }
  u32 allocate(int log_units);
  void free_block(u32 index, int log_units);

  char* units_;
  u32 fresh_ = 1;
  u32 in_use_ = 0;
  u32 free_[kClasses] = {};  // heads of lists linked through the blocks' first word
  SpinLock lock_;
};

}  // namespace duress
