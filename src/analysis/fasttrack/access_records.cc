// SPDX-License-Identifier: Apache-2.0
#include "analysis/fasttrack/access_records.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/check.h"

namespace duress {

static constexpr size_t kBytes = (size_t{1} << kIdBits) * 8;  // of each of the two arrays

AccessRecords::AccessRecords() {
  times_ = static_cast<AccessTime*>(map_memory(kBytes));
  places_ = static_cast<Place*>(map_memory(kBytes));
  chunk_times_ = static_cast<ChunkTime*>(map_memory(kChunks * sizeof(ChunkTime)));
  free_ = static_cast<u32*>(map_memory(kChunks * sizeof(u32)));
  used_ = static_cast<bool*>(map_memory(kChunks));
  if (!times_ || !places_ || !chunk_times_ || !free_ || !used_)
    fatal("out of memory for access records: 1 GiB of address space");
}

AccessRecords::~AccessRecords() {
  unmap_memory(times_, kBytes);
  unmap_memory(places_, kBytes);
  unmap_memory(chunk_times_, kChunks * sizeof(ChunkTime));
  unmap_memory(free_, kChunks * sizeof(u32));
  unmap_memory(used_, kChunks);
}

void AccessRecords::use_huge_pages() {
  for (void* p : {static_cast<void*>(times_), static_cast<void*>(places_)})
    raw_syscall(SYS_madvise, reinterpret_cast<long>(p), static_cast<long>(kBytes), MADV_HUGEPAGE);
}

AccessId AccessRecords::take_chunk(Slot slot) {
  SpinGuard guard(lock_);
  u32 chunk;
  if (free_count_) {
    chunk = free_[--free_count_];
  } else if (fresh_ < kChunks - 1) {
    chunk = fresh_++;
  } else {
    return 0;
  }
  used_[chunk] = true;
  chunk_times_[chunk].slot.store(slot, std::memory_order_relaxed);
  chunk_times_[chunk].last.store(~Clock{0}, std::memory_order_relaxed);
  ++in_use_;
  return chunk * kChunk;
}

void AccessRecords::give_back(u32 chunk) {
  SpinGuard guard(lock_);
  if (!used_[chunk]) return;
  used_[chunk] = false;
  --in_use_;
  free_[free_count_++] = chunk;
}

}  // namespace duress
