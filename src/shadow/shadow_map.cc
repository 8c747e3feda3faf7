// SPDX-License-Identifier: Apache-2.0
#include "shadow/shadow_map.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/check.h"

namespace duress {

static constexpr size_t kTableBytes = ShadowMap::kRegions * sizeof(u64);
static constexpr size_t kShadowBytes = ShadowMap::kRegionBytes * 2;
static constexpr size_t kTouchedBytes = ShadowMap::kRegionBytes >> ShadowMap::kBlockBits;

static void keep_out_of_core_files(void* p, size_t bytes) {
  raw_syscall(SYS_madvise, reinterpret_cast<long>(p), static_cast<long>(bytes), MADV_DONTDUMP);
}

bool ShadowMap::open(uptr address) {
  void* table = address ? map_memory_at(address, kTableBytes) : map_memory(kTableBytes);
  if (!table) return false;
  void* nothing = map_memory(kShadowBytes);
  void* touched = map_memory(kRegions * sizeof(u8*));
  if (!nothing || !touched) return false;
  raw_syscall(SYS_mprotect, reinterpret_cast<long>(nothing), kShadowBytes, PROT_READ);
  keep_out_of_core_files(nothing, kShadowBytes);
  table_ = static_cast<u64*>(table);
  touched_ = static_cast<u8**>(touched);
  void_region_ = reinterpret_cast<u64>(nothing);
  for (u64 region = 0; region < kRegions; ++region) table_[region] = void_entry(region << kRegionBits);
  return true;
}

void ShadowMap::close() {
  for (u64 region = 0; region < kRegions; ++region) {
    if (!touched_[region]) continue;
    unmap_memory(reinterpret_cast<void*>(table_[region] + (region << kRegionBits << 1)), kShadowBytes);
    unmap_memory(touched_[region], kTouchedBytes);
  }
  unmap_memory(reinterpret_cast<void*>(void_region_), kShadowBytes);
  unmap_memory(touched_, kRegions * sizeof(u8*));
  unmap_memory(const_cast<u64*>(table_), kTableBytes);
  table_ = nullptr;
}

u64 ShadowMap::add_region(u64 region) {
  SpinGuard guard(lock_);
  if (touched_[region]) return table_[region];
  bool was_there = false;
  void* shadow = map_memory(kShadowBytes, &was_there);
  auto* touched = static_cast<u8*>(map_memory(kTouchedBytes));
  if (!shadow || !touched) {
    fatal("out of memory for shadow: 8 GiB of address space for each 4 GiB touched",
          "raise 'ulimit -v' or set vm.overcommit_memory to 0 or 1");
  }
  if (!was_there) {
    keep_out_of_core_files(shadow, kShadowBytes);
    // Huge pages would make sparse memory expensive: a page of shadow must cost a page.
    raw_syscall(SYS_madvise, reinterpret_cast<long>(shadow), kShadowBytes, MADV_NOHUGEPAGE);
  }
  touched_[region] = touched;
  std::atomic_thread_fence(std::memory_order_release);
  table_[region] = reinterpret_cast<u64>(shadow) - (region << kRegionBits << 1);
  return table_[region];
}

void ShadowMap::clear(uptr begin, uptr end) {
  begin &= ~uptr{7};
  end = (end + 7) & ~uptr{7};
  constexpr uptr kBlock = uptr{1} << kBlockBits;
  while (begin < end && covers(begin)) {
    uptr next = (begin & ~(kBlock - 1)) + kBlock;
    if (next > end) next = end;
    if (touched_[begin >> kRegionBits] == nullptr) {
      uptr region_end = (begin & ~(kRegionBytes - 1)) + kRegionBytes;
      begin = region_end < end ? region_end : end;
      continue;
    }
    if (touched(begin)) {
      char* from = reinterpret_cast<char*>(cell(begin));
      char* to = from + ((next - begin) << 1);
      if (next - begin == kBlock) {
        drop_pages(from, static_cast<size_t>(to - from));  // 128 KiB, page aligned
        touched_[begin >> kRegionBits][(begin & (kRegionBytes - 1)) >> kBlockBits] = 0;
        touched_blocks_.fetch_sub(1, std::memory_order_relaxed);
      } else {
        memset(from, 0, static_cast<size_t>(to - from));
      }
    }
    begin = next;
  }
}

}  // namespace duress
