// SPDX-License-Identifier: Apache-2.0
#include "runtime/rollback_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/raw.h"
#include "runtime/rollback_pages.h"

namespace duress {
namespace {

// Newer than the headers of some systems: Linux 6.7.
constexpr u64 kAsynchronous = u64{1} << 15;  // UFFD_FEATURE_WP_ASYNC
constexpr u64 kScan = 0xc0606610;            // PAGEMAP_SCAN
enum : u64 { kFollowed = 1 << 0, kWritten = 1 << 1, kPresent = 1 << 3, kSwapped = 1 << 4, kZero = 1 << 5 };
struct ScanArgument {
  u64 size, flags, begin, end, walked_to, found, found_room, most_pages, inverted, all_of, any_of, returned;
};
constexpr long kPopulateRead = 22;      // MADV_POPULATE_READ
constexpr long kUserFaultsOnly = 1;     // UFFD_USER_MODE_ONLY
constexpr long kHighDescriptor = 1000;  // as those of the fork server
constexpr uptr kEndOfMemory = 0x7ffffffff000;

long address(const void* p) {
  return reinterpret_cast<long>(p);
}

/// A copy with a high number. The original is closed.
int moved_up(long fd) {
  if (fd < 0) return -1;
  long high = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kHighDescriptor);
  raw_syscall(SYS_close, fd);
  return static_cast<int>(high);
}

int open_to_read(const char* path) {
  return moved_up(raw_syscall(SYS_openat, AT_FDCWD, address(path), O_RDONLY | O_CLOEXEC));
}

/// Page faults of all threads so far, those in system calls included.
u64 page_faults() {
  rusage usage;
  raw_syscall(SYS_getrusage, RUSAGE_SELF, address(&usage));
  return static_cast<u64>(usage.ru_minflt + usage.ru_majflt);
}

uptr hexadecimal(const char*& at) {
  uptr value = 0;
  for (;; ++at) {
    if (*at >= '0' && *at <= '9') {
      value = value << 4 | static_cast<uptr>(*at - '0');
    } else if (*at >= 'a' && *at <= 'f') {
      value = value << 4 | static_cast<uptr>(*at - 'a' + 10);
    } else {
      return value;
    }
  }
}

void skip_word(const char*& at) {
  while (*at && *at != ' ' && *at != '\n') ++at;
  while (*at == ' ') ++at;
}

}  // namespace

/// All private mappings that can be written, or are of no file.
bool MemoryImage::read_areas() {
  int fd = open_to_read("/proc/self/maps");
  if (fd < 0) return false;
  u64 size = 0;
  for (long n; size + 1 < sizeof text; size += static_cast<u64>(n)) {
    n = raw_syscall(SYS_read, fd, address(text + size), static_cast<long>(sizeof text - 1 - size));
    if (n <= 0) break;
  }
  raw_syscall(SYS_close, fd);
  text[size] = 0;
  if (size + 1 == sizeof text) return false;
  area_count = 0;
  for (const char* at = text; *at;) {
    Area area;
    area.begin = hexadecimal(at);
    ++at;  // '-'
    area.end = hexadecimal(at);
    ++at;
    area.rights = static_cast<u8>((at[0] == 'r' ? PROT_READ : 0) | (at[1] == 'w' ? PROT_WRITE : 0) |
                                  (at[2] == 'x' ? PROT_EXEC : 0));
    bool is_private = at[3] == 'p';
    skip_word(at);  // rights
    skip_word(at);  // offset
    skip_word(at);  // device
    area.file = *at != '0';
    while (*at && *at != '\n') ++at;
    if (*at) ++at;
    if (!is_private || (area.file && !area.written()) || area.begin >= kEndOfMemory) continue;
    if (area_count == kMostAreas) return false;
    areas[area_count++] = area;
  }
  return true;
}

bool MemoryImage::find_mapping(uptr address, uptr* begin, uptr* end) const {
  for (const char* at = text; *at;) {
    *begin = hexadecimal(at);
    ++at;  // '-'
    *end = hexadecimal(at);
    if (address >= *begin && address < *end) return true;
    while (*at && *at != '\n') ++at;
    if (*at) ++at;
  }
  return false;
}

void MemoryImage::find_tables() {
  static_assert(kMostTables >= kMostHugeMappings);
  table_count = 0;
  for (const MappedRange& range : g_huge_mappings) {
    if (range.end == 0) break;
    add_table({range.begin, range.end});
  }
}

bool MemoryImage::add_table(const Range& range) {
  if (table_count == kMostTables) return false;
  u32 at = table_count++;
  for (; at > 0 && tables[at - 1].begin > range.begin; --at) tables[at] = tables[at - 1];
  tables[at] = range;
  return true;
}

bool MemoryImage::follow() {
  user_faults = moved_up(raw_syscall(SYS_userfaultfd, O_CLOEXEC | kUserFaultsOnly));
  page_map = open_to_read("/proc/self/pagemap");
  size_file = open_to_read("/proc/self/statm");
  if (user_faults < 0 || page_map < 0 || size_file < 0) return false;
  uffdio_api api = {UFFD_API, kAsynchronous, 0};
  if (raw_syscall(SYS_ioctl, user_faults, UFFDIO_API, address(&api)) != 0) return false;
  for (u32 i = 0; i < area_count; ++i) {
    const Area& area = areas[i];
    if (!area.written()) continue;
    auto bytes = static_cast<long>(area.end - area.begin);
    if (area.file) raw_syscall(SYS_madvise, static_cast<long>(area.begin), bytes, kPopulateRead);
    if (!follow_range(area.begin, area.end)) return false;
  }
  return true;
}

/// Some of the pages from *from on; moves *from. How many ranges were found, or an error.
long MemoryImage::scan(uptr* from, uptr end, u64 all_of, u64 any_of) {
  ScanArgument argument = {};
  argument.size = sizeof argument;
  argument.begin = *from;
  argument.end = end;
  argument.found = reinterpret_cast<u64>(found);
  argument.found_room = kMostRanges;
  argument.inverted = kZero;
  argument.all_of = kZero | all_of;
  argument.any_of = any_of;
  argument.returned = kPresent;
  long result = raw_syscall(SYS_ioctl, page_map, static_cast<long>(kScan), address(&argument));
  *from = argument.walked_to;
  return result;
}

bool MemoryImage::copy_pages() {
  page_count = 0;
  for (uptr at = 0; at < kEndOfMemory;) {
    long ranges = scan(&at, kEndOfMemory, kFollowed, kPresent | kSwapped);
    if (ranges < 0) return false;
    for (long i = 0; i < ranges; ++i) {
      for (uptr page = found[i].begin; page < found[i].end; page += kPageSize) {
        if (page_count == kMostPages) return false;
        pages[page_count] = page;
        copy_page(copies + page_count * kPageSize, reinterpret_cast<void*>(page));
        ++page_count;
      }
    }
  }
  return true;
}

/// The next write to each of the pages is noted.
bool MemoryImage::protect(const uptr* list, u64 count) {
  for (u64 i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && list[end] == list[end - 1] + kPageSize;) ++end;
    uffdio_writeprotect wanted = {{list[i], (end - i) * kPageSize}, UFFDIO_WRITEPROTECT_MODE_WP};
    if (raw_syscall(SYS_ioctl, user_faults, UFFDIO_WRITEPROTECT, address(&wanted)) == 0) continue;
    // Several areas side by side: each for itself.
    for (u64 k = i; k < end; ++k) {
      wanted.range = {list[k], kPageSize};
      if (raw_syscall(SYS_ioctl, user_faults, UFFDIO_WRITEPROTECT, address(&wanted)) != 0) return false;
    }
  }
  return true;
}

bool MemoryImage::take(uptr room) {
  constexpr u64 kMost = kMostPages + kMostCheckpointPages;
  constexpr size_t kListBytes = kMost * sizeof(uptr), kCopyBytes = kMost * kPageSize;
  long at = raw_syscall(SYS_mmap, static_cast<long>(room), kListBytes + kCopyBytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1);
  if (static_cast<uptr>(at) != room) return false;
  pages = reinterpret_cast<uptr*>(room);
  checkpoint_pages = pages + kMostPages;
  copies = reinterpret_cast<char*>(room + kListBytes);
  checkpoint_copies = copies + kMostPages * kPageSize;
  checkpoint_count = checkpoint_memory = left_count = 0;
  heap_end = static_cast<uptr>(raw_syscall(SYS_brk, 0));
  find_tables();
  if (!read_areas() || !follow() || !copy_pages() || !protect(pages, page_count)) return false;
  mapped_before = mapped_pages();
  made_count = dropped_count = removed_count = kept_count = stayed = 0;
  tables_are_clean = heap_moved = false;
  written_memory.faults = written_tables.faults = 0;
  return mapped_before != 0;
}

u64 MemoryImage::mapped_pages() const {
  char digits[32];
  long n = raw_syscall(SYS_pread64, size_file, address(digits), sizeof digits, 0);
  u64 value = 0;
  for (long i = 0; i < n && digits[i] >= '0' && digits[i] <= '9'; ++i)
    value = value * 10 + static_cast<u64>(digits[i] - '0');
  return value;
}

u64 MemoryImage::find_page(uptr at) const {
  u64 low = 0, high = page_count;
  while (low < high) {
    u64 middle = (low + high) / 2;
    if (pages[middle] < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool MemoryImage::is_file(uptr page) const {
  for (u32 i = 0; i < area_count; ++i) {
    if (page >= areas[i].begin && page < areas[i].end) return areas[i].file;
  }
  return false;
}

/// What was dropped reads as zero, or as the file.
void MemoryImage::restore_range(uptr begin, uptr end) {
  for (u64 i = find_page(begin & ~(kPageSize - 1)); i < page_count && pages[i] < end; ++i)
    copy_page(reinterpret_cast<void*>(pages[i]), copies + i * kPageSize);
}

/// Adds the written pages of the range to the list. False: they cannot be put back, or are too many.
bool MemoryImage::find_written(uptr begin, uptr end, Written& list) {
  for (uptr at = begin; at < end;) {
    long ranges = scan(&at, end, kFollowed | kWritten, kPresent | kSwapped);
    if (ranges < 0) return false;
    for (long r = 0; r < ranges; ++r) {
      u64 i = find_page(found[r].begin);
      for (uptr page = found[r].begin; page < found[r].end; page += kPageSize) {
        if (list.count == kMostWrittenPages) return false;
        bool copied = i < page_count && pages[i] == page;
        if (!copied && is_file(page)) return false;
        list.pages[list.count++] = {page, copied ? copies + i++ * kPageSize : nullptr, nullptr, 0, 0};
      }
    }
  }
  return true;
}

/// All but the tables.
bool MemoryImage::find_written_memory() {
  written_memory.count = 0;
  uptr at = 0;
  for (u32 i = 0; i < table_count; ++i) {
    if (!find_written(at, tables[i].begin, written_memory)) return false;
    at = tables[i].end;
  }
  if (!find_written(at, kEndOfMemory, written_memory)) return false;
  match_checkpoint(written_memory, 0, checkpoint_memory);
  written_memory.pack();
  return true;
}

bool MemoryImage::find_written_tables() {
  written_tables.count = 0;
  for (u32 i = 0; i < table_count; ++i) {
    if (!find_written(tables[i].begin, tables[i].end, written_tables)) return false;
  }
  match_checkpoint(written_tables, checkpoint_memory, checkpoint_count);
  written_tables.pack();
  return true;
}

bool MemoryImage::put_back() {
  tables_are_clean = false;
  bool mapped_otherwise = made_count + dropped_count + removed_count != 0;
  if (dropped_count + removed_count != 0) forget_checkpoint();  // they are brought back as the image has them
  if (!put_back_mappings()) return false;
  // Without a call, mappings change only by a fault: a stack that grows.
  u64 faults = page_faults();
  if (mapped_otherwise || faults != written_memory.faults) {
    if (!find_written_memory() || mapped_pages() != mapped_before) return false;
    faults = written_memory.faults = page_faults();
  }
  if (has_checkpoint() && faults != written_tables.faults) {
    if (find_written_tables()) {
      written_tables.faults = page_faults();
    } else {
      forget_checkpoint();
    }
  }
  put_back_left();
  written_memory.put_back();
  if (has_checkpoint()) written_tables.put_back();
  return true;
}

void MemoryImage::put_back_tables() {
  tables_are_clean = true;
  if (page_faults() != written_tables.faults) {
    if (!find_written_tables()) {
      for (u32 i = 0; i < table_count; ++i) {
        drop_pages(reinterpret_cast<void*>(tables[i].begin), tables[i].end - tables[i].begin);
        restore_range(tables[i].begin, tables[i].end);
      }
      written_tables.count = 0;
      written_tables.faults = 0;
      return;
    }
    written_tables.faults = page_faults();
  }
  written_tables.put_back();
}

// ---- the checkpoint

bool MemoryImage::take_checkpoint() {
  if (made_count + dropped_count + removed_count != 0 || !tables_are_clean ||
      static_cast<uptr>(raw_syscall(SYS_brk, 0)) != heap_end)
    return false;
  u64 faults = page_faults();
  if (faults != written_memory.faults && !find_written_memory()) return false;
  if (faults != written_tables.faults && !find_written_tables()) return false;
  if (written_memory.count + written_tables.count > kMostCheckpointPages) return false;
  for (const Written* list : {&written_memory, &written_tables}) {
    for (u64 i = 0; i < list->count; ++i) {
      checkpoint_pages[checkpoint_count] = list->pages[i].at;
      copy_page(checkpoint_copies + checkpoint_count++ * kPageSize,
                reinterpret_cast<void*>(list->pages[i].at));
    }
    if (list == &written_memory) checkpoint_memory = checkpoint_count;
  }
  // From now on the lists have what is written after the checkpoint.
  for (Written* list : {&written_memory, &written_tables}) {
    list->count = 0;
    list->pack();
  }
  if (!protect(checkpoint_pages, checkpoint_count)) {
    forget_checkpoint();
    return false;
  }
  written_memory.faults = written_tables.faults = page_faults();
  return true;
}

/// May be called in the middle of an execution: the pages are put back at its end.
void MemoryImage::forget_checkpoint() {
  if (!has_checkpoint()) return;
  left_count = checkpoint_count;
  checkpoint_count = checkpoint_memory = 0;
  for (Written* list : {&written_memory, &written_tables}) {
    for (u64 i = 0; i < list->count; ++i) list->pages[i].at_checkpoint = nullptr;
    list->pack();
    list->faults = 0;  // the pages that are put back have to be found again
  }
}

/// The pages of the last checkpoint, as the image has them.
void MemoryImage::put_back_left() {
  for (u64 i = 0; i < left_count; ++i) {
    auto* page = reinterpret_cast<void*>(checkpoint_pages[i]);
    u64 known = find_page(checkpoint_pages[i]);
    if (known < page_count && pages[known] == checkpoint_pages[i]) {
      copy_page(page, copies + known * kPageSize);
    } else {
      clear_page(page);
    }
  }
  left_count = 0;
}

void MemoryImage::leave_checkpoint() {
  forget_checkpoint();
  put_back_left();
  written_memory.put_back();
}

/// Pages of the list that are among those of the checkpoint [begin, end). The others are as in the image.
void MemoryImage::match_checkpoint(Written& list, u64 begin, u64 end) const {
  for (u64 i = 0; i < list.count; ++i) {
    while (begin < end && checkpoint_pages[begin] < list.pages[i].at) ++begin;
    if (begin == end) return;
    if (checkpoint_pages[begin] == list.pages[i].at)
      list.pages[i].at_checkpoint = checkpoint_copies + begin * kPageSize;
  }
}

}  // namespace duress
