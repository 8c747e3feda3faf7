// SPDX-License-Identifier: Apache-2.0
//
// The part of MemoryImage about mappings: what system calls have made of them, and how that is undone.
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/raw.h"
#include "runtime/rollback_memory.h"

namespace duress {
namespace {

constexpr long kPopulateRead = 22, kPopulateWrite = 23;  // MADV_POPULATE_*, newer than some headers

bool failed(long result) {
  return result < 0 && result > -4096;
}

uptr page_of(uptr p) {
  return p & ~(kPageSize - 1);
}
uptr up_to_page(uptr p) {
  return page_of(p + kPageSize - 1);
}

}  // namespace

/// Which of its pages are written is followed from now on.
bool MemoryImage::follow_range(uptr begin, uptr end) {
  uffdio_register wanted = {{begin, end - begin}, UFFDIO_REGISTER_MODE_WP, 0};
  return raw_syscall(SYS_ioctl, user_faults, UFFDIO_REGISTER, reinterpret_cast<long>(&wanted)) == 0;
}

// ---- mappings of the runtime

/// From now on it is a part of the image, all zero.
bool MemoryImage::keep(const Range& range) {
  if (kept_count == kMostKept || area_count == kMostAreas) return false;
  u64 bytes = range.end - range.begin;
  if (!follow_range(range.begin, range.end)) return false;
  if (bytes >= kHugeBytes && !add_table(range)) return false;
  areas[area_count++] = {range.begin, range.end, false, PROT_READ | PROT_WRITE};
  kept[kept_count++] = range;
  mapped_before += bytes / kPageSize;
  return true;
}

bool MemoryImage::is_kept(uptr begin, size_t bytes) {
  uptr end = up_to_page(begin + bytes);
  for (u32 i = 0; i < kept_count;) {
    bool usable = bytes < kHugeBytes || tables_are_clean;
    if (kept[i].begin == begin && kept[i].end == end && usable) return true;
    // An execution that maps something else.
    if (kept[i].begin < end && begin < kept[i].end) {
      unmap_kept(i);
    } else {
      ++i;
    }
  }
  return false;
}

void MemoryImage::unmap_kept(u32 index) {
  Range range = kept[index];
  raw_syscall(SYS_munmap, static_cast<long>(range.begin), static_cast<long>(range.end - range.begin));
}

/// Of small ones: those of a thread, which most often has successors. Until the end of the execution they are
/// neither used again nor unmapped.
bool MemoryImage::may_stay(uptr begin, size_t bytes) {
  constexpr u32 kMostStaying = 64;
  constexpr size_t kMostBytes = size_t{1} << 20;
  if (!is_own_mapping(begin) || bytes > kMostBytes || stayed == kMostStaying) return false;
  ++stayed;
  return true;
}

/// It has been unmapped. False: it was not one of this execution, nor a kept one.
bool MemoryImage::forget_own(uptr begin, uptr end) {
  for (u32 i = 0; i < made_count; ++i) {
    if (made[i].begin != begin || made[i].end != end) continue;
    made[i] = made[--made_count];
    return true;
  }
  for (u32 i = 0; i < kept_count; ++i) {
    if (kept[i].begin != begin || kept[i].end != end) continue;
    kept[i] = kept[--kept_count];
    mapped_before -= (end - begin) / kPageSize;
    for (u32 k = 0; k < area_count; ++k) {
      if (areas[k].begin == begin) areas[k] = areas[--area_count];
    }
    u32 left = 0;
    for (u32 k = 0; k < table_count; ++k) {
      if (tables[k].begin != begin) tables[left++] = tables[k];
    }
    table_count = left;
    written_memory.faults = written_tables.faults = 0;
    forget_checkpoint();
    u64 still_there = 0;
    for (u64 k = 0; k < left_count; ++k) {
      uptr page = checkpoint_pages[k];
      if (page < begin || page >= end) checkpoint_pages[still_there++] = page;
    }
    left_count = still_there;
    return true;
  }
  return false;
}

bool MemoryImage::put_back_mappings() {
  for (u32 i = 0; i < made_count; ++i) {
    if (is_own_mapping(made[i].begin) && keep(made[i])) continue;
    raw_syscall(SYS_munmap, static_cast<long>(made[i].begin), static_cast<long>(made[i].end - made[i].begin));
  }
  if (heap_moved && static_cast<uptr>(raw_syscall(SYS_brk, 0)) != heap_end &&
      static_cast<uptr>(raw_syscall(SYS_brk, static_cast<long>(heap_end))) != heap_end)
    return false;
  heap_moved = false;
  for (u32 i = 0; i < removed_count; ++i) {
    if (!bring_back(removed[i])) return false;
  }
  for (u32 i = 0; i < dropped_count; ++i) restore_range(dropped[i].begin, dropped[i].end);
  made_count = dropped_count = removed_count = stayed = 0;
  return true;
}

bool MemoryImage::within_made(uptr begin, uptr end) const {
  for (u32 i = 0; i < made_count; ++i) {
    if (begin >= made[i].begin && end <= made[i].end) return true;
  }
  return false;
}

/// Mappings of the image that are unmapped, which can be undone if they are of no file: a stack, most often.
bool MemoryImage::remove(uptr begin, uptr end) {
  if (removed_count == kMostMade) return false;
  uptr at = begin;
  for (u32 i = 0; i < area_count && at < end; ++i) {
    const Area& area = areas[i];
    if (area.end <= at) continue;
    if (area.begin > at || area.file) return false;
    at = area.end;
  }
  for (u32 i = 0; i < removed_count; ++i) {
    if (begin < removed[i].end && removed[i].begin < end) return false;
  }
  removed[removed_count++] = {begin, end};
  return at >= end;
}

bool MemoryImage::bring_back(const Range& range) {
  for (u32 i = 0; i < area_count; ++i) {
    const Area& area = areas[i];
    uptr begin = area.begin > range.begin ? area.begin : range.begin;
    uptr end = area.end < range.end ? area.end : range.end;
    if (begin >= end) continue;
    long at = raw_syscall(SYS_mmap, static_cast<long>(begin), static_cast<long>(end - begin), area.rights,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1);
    if (static_cast<uptr>(at) != begin) return false;
    if (!area.written()) continue;
    if (!follow_range(begin, end)) return false;
    restore_range(begin, end);
  }
  return true;
}

bool MemoryImage::add_made(uptr begin, uptr end) {
  if (within_made(begin, end)) return true;
  for (u32 i = 0; i < made_count; ++i) {  // neighbours are unmapped together
    Range& other = made[i];
    if (begin == other.end || end == other.begin) {
      other = {begin == other.end ? other.begin : begin, begin == other.end ? end : other.end};
      return true;
    }
  }
  if (made_count == kMostMade) return false;
  made[made_count++] = {begin, end};
  return true;
}

bool MemoryImage::note_call(const long (&call)[5], long result) {
  auto begin = page_of(static_cast<uptr>(call[1])), end = up_to_page(static_cast<uptr>(call[1] + call[2]));
  switch (call[0]) {
    case SYS_brk:
      heap_moved = true;
      return true;
    case SYS_mmap:
      if (failed(result)) return true;
      begin = static_cast<uptr>(result);
      end = up_to_page(begin + static_cast<uptr>(call[2]));
      // Over another mapping: it may have been anything.
      if ((call[4] & MAP_FIXED) != 0) return within_made(begin, end);
      return add_made(begin, end);
    case SYS_munmap:
      if (!failed(result) && is_own_mapping(begin)) return forget_own(begin, end) || remove(begin, end);
      return failed(result) || within_made(begin, end) || remove(begin, end);
    case SYS_mprotect:
      return failed(result) || within_made(begin, end);
    case SYS_madvise:
      if (failed(result) || within_made(begin, end)) return true;
      switch (call[3]) {
        case MADV_DONTNEED:
          if (dropped_count == kMostMade) return false;
          dropped[dropped_count++] = {begin, end};
          return true;
        case kPopulateRead:
        case kPopulateWrite:
        case MADV_HUGEPAGE:
        case MADV_NOHUGEPAGE:
        case MADV_DONTDUMP:
          return true;
        default:
          return false;
      }
    case SYS_mremap:
      if (failed(result)) return true;
      return within_made(begin, end) &&
             add_made(static_cast<uptr>(result), up_to_page(static_cast<uptr>(result + call[3])));
    default:
      return true;
  }
}

}  // namespace duress
