// SPDX-License-Identifier: Apache-2.0
#include "analysis/fasttrack/spill_pool.h"

#include <string.h>

#include "base/check.h"

namespace duress {

static constexpr size_t kPoolBytes = (size_t{1} << kIdBits) * 32;

SpillPool::SpillPool() {
  units_ = static_cast<char*>(map_memory(kPoolBytes));
  if (!units_) fatal("out of memory for read sets: 2 GiB of address space");
}

SpillPool::~SpillPool() {
  unmap_memory(units_, kPoolBytes);
}

u32 SpillPool::allocate(int log_units) {
  SpinGuard guard(lock_);
  in_use_ += 1u << log_units;
  if (u32 index = free_[log_units]) {
    memcpy(&free_[log_units], at(index), sizeof(u32));
    return index;
  }
  u32 index = fresh_;
  fresh_ += 1u << log_units;
  if (fresh_ >= kIdMask) fatal("out of memory for read sets");
  return index;
}

void SpillPool::free_block(u32 index, int log_units) {
  SpinGuard guard(lock_);
  in_use_ -= 1u << log_units;
  memcpy(at(index), &free_[log_units], sizeof(u32));
  free_[log_units] = index;
}

u32 SpillPool::make_writes() {
  return allocate(0);
}

u32 SpillPool::make_reads() {
  u32 index = allocate(0);
  reads(index) = ReadSet{0, 0, 0};
  return index;
}

u32 SpillPool::add_read(u32 index, AccessId id, u8 mask) {
  ReadSet* set = &reads(index);
  if (set->count == set->capacity()) {
    u8 log_units = set->log_units + 1;
    DURESS_CHECK(log_units < kClasses);
    u32 bigger = allocate(log_units);
    ReadSet& moved = reads(bigger);
    moved = ReadSet{set->count, log_units, 0};
    memcpy(moved.ids(), set->ids(), set->count * sizeof(AccessId));
    memcpy(moved.masks(), set->masks(), set->count);
    free_reads(index);
    index = bigger;
    set = &moved;
  }
  set->ids()[set->count] = id;
  set->masks()[set->count] = mask;
  ++set->count;
  return index;
}

}  // namespace duress
