// SPDX-License-Identifier: Apache-2.0
#include "shadow/shadow_map.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/check.h"

namespace duress {

static constexpr size_t kTableBytes = ShadowMap::kRegions * sizeof(u64);
static constexpr size_t kShadowBytes = ShadowMap::kRegionBytes * 2;
static constexpr size_t kStateBytes = (ShadowMap::kRegionBytes >> ShadowMap::kBlockBits) * sizeof(u32);

static void keep_out_of_core_files(void* p, size_t bytes) {
  raw_syscall(SYS_madvise, reinterpret_cast<long>(p), static_cast<long>(bytes), MADV_DONTDUMP);
}

bool ShadowMap::open(uptr address) {
  void* table = address ? map_memory_at(address, kTableBytes) : map_memory(kTableBytes);
  if (!table) return false;
  void* nothing = map_memory(kShadowBytes);
  void* states = map_memory(kRegions * sizeof(void*));
  if (!nothing || !states) return false;
  raw_syscall(SYS_mprotect, reinterpret_cast<long>(nothing), kShadowBytes, PROT_READ);
  keep_out_of_core_files(nothing, kShadowBytes);
  table_ = static_cast<u64*>(table);
  states_ = static_cast<std::atomic<u32>**>(states);
  void_region_ = reinterpret_cast<u64>(nothing);
  for (u64 region = 0; region < kRegions; ++region) table_[region] = void_entry(region << kRegionBits);
  return true;
}

void ShadowMap::close() {
  for (u64 region = 0; region < kRegions; ++region) {
    if (!states_[region]) continue;
    unmap_memory(reinterpret_cast<void*>(table_[region] + (region << kRegionBits << 1)), kShadowBytes);
    unmap_memory(states_[region], kStateBytes);
  }
  unmap_memory(reinterpret_cast<void*>(void_region_), kShadowBytes);
  unmap_memory(states_, kRegions * sizeof(void*));
  unmap_memory(const_cast<u64*>(table_), kTableBytes);
  table_ = nullptr;
}

u64 ShadowMap::add_region(u64 region) {
  SpinGuard guard(lock_);
  if (states_[region]) return table_[region];
  bool was_there = false;
  void* shadow = map_memory(kShadowBytes, &was_there);
  auto* states = static_cast<std::atomic<u32>*>(map_memory(kStateBytes));
  if (!shadow || !states) {
    fatal("out of memory for shadow: 8 GiB of address space for each 4 GiB touched",
          "raise 'ulimit -v' or set vm.overcommit_memory to 0 or 1");
  }
  if (!was_there) {
    keep_out_of_core_files(shadow, kShadowBytes);
    // Huge pages would make sparse memory expensive: a page of shadow must cost a page.
    raw_syscall(SYS_madvise, reinterpret_cast<long>(shadow), kShadowBytes, MADV_NOHUGEPAGE);
  }
  states_[region] = states;
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
    if (states_[begin >> kRegionBits] == nullptr) {
      uptr region_end = (begin & ~(kRegionBytes - 1)) + kRegionBytes;
      begin = region_end < end ? region_end : end;
      continue;
    }
    if (block_write(begin) && next - begin != kBlock) spread(begin);
    std::atomic<u32>& state = block_state(begin);
    if (next - begin == kBlock) {
      if (state.exchange(0) & kTouched) {  // first, so that no cell is in use without the mark
        touched_blocks_.fetch_sub(1, std::memory_order_relaxed);
        drop_pages(cell(begin), 2 * kBlock);
      }
    } else if (touched(begin)) {
      memset(static_cast<void*>(cell(begin)), 0, (next - begin) << 1);
    }
    begin = next;
  }
}

u32 ShadowMap::touch(std::atomic<u32>& state) {
  u32 before = state.fetch_or(kTouched);
  if (!(before & kTouched)) touched_blocks_.fetch_add(1, std::memory_order_relaxed);
  return before;
}

static void fill_line(Line* line, u64 writes) {
  for (Cell& cell : line->cells) {
    if (!(cell.writes() | cell.reads())) cell.set_writes(writes);
  }
}

static u64 whole_write(u32 state) {
  return Word{state >> 1, 0, 0, false, false, false}.encode();
}

u64 ShadowMap::first_of_block(std::atomic<u32>& state, Cell* cell, Next next) {
  u64 writes = whole_write(touch(state));
  if (!writes) return 0;
  Line* own = Line::of(cell);
  fill_line(own, writes);
  if (next == Next::kSweep) return writes;
  // The other lines of the page too, whose memory is there now. Those that somebody holds are left: it may
  // wait for ours.
  Line* line = reinterpret_cast<Line*>(reinterpret_cast<uptr>(own) & ~(kPageSize - 1));
  for (Line* end = line + kPageSize / sizeof(Line); line < end; ++line) {
    if (line == own || !line->try_lock()) continue;
    fill_line(line, writes);
    line->unlock();
  }
  return writes;
}

void ShadowMap::spread(uptr address) {
  SpinGuard guard(lock_);  // who comes second finds all cells filled before it uses them anew
  std::atomic<u32>& state = block_state(address);
  u64 writes = whole_write(touch(state));
  if (!writes) return;
  Line* line = Line::of(cell(address & ~((uptr{1} << kBlockBits) - 1)));
  for (u64 i = 0; i < (u64{1} << kBlockBits) / Line::kBytes; ++i, ++line) {
    line->lock();
    fill_line(line, writes);
    line->unlock();
  }
  state.store(kTouched);
}

void ShadowMap::summarise(uptr begin, uptr end, AccessId id) {
  for (uptr block = begin; block < end; block += uptr{1} << kBlockBits) {
    if (block_state(block).exchange(id << 1) & kTouched)
      touched_blocks_.fetch_sub(1, std::memory_order_relaxed);
  }
  if (begin < end) drop_pages(cell(begin), (end - begin) << 1);
}

}  // namespace duress
