// SPDX-License-Identifier: Apache-2.0
//
// System calls made directly, because the C library's own functions may be intercepted, may take
// its locks, and set errno under the target's feet.
#pragma once

#include <atomic>

#include "base/types.h"

namespace duress {

/// The kernel's answer: a value, or -errno.
long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);

/// Called after each of them; null: nobody. The call is its number and the first four arguments.
extern void (*g_on_raw_call)(const long (&call)[5], long result);

/// The largest mappings of map_memory(): sparse tables of the detector.
struct MappedRange {
  uptr begin, end;
};
inline constexpr size_t kHugeBytes = size_t{500} << 20;  // at least
constexpr u32 kMostHugeMappings = 16;
extern MappedRange g_huge_mappings[kMostHugeMappings];  // up to the first that is empty

/// Where map_memory() maps, and who keeps what was mapped.
struct OwnMappings {
  uptr next;                                     // the next one goes here, if there is room; 0: anywhere
  bool (*is_there)(uptr address, size_t bytes);  // true: such a mapping was kept, and its pages are zero
  bool (*keeps)(uptr address, size_t bytes);     // true: it need not be unmapped
};
extern OwnMappings g_own_mappings;

/// Fresh zero pages, not accounted until touched. Null if the kernel refuses.
void* map_memory(size_t bytes);
/// *was_there: it was kept from an execution before, with what the kernel was told about it.
void* map_memory(size_t bytes, bool* was_there);
/// The same at exactly `address`, or null if anything is there already.
void* map_memory_at(uptr address, size_t bytes);
void unmap_memory(void* p, size_t bytes);
/// Makes the pages exist, for memory that is read before it is written: each page would otherwise take two
/// faults, the second of which interrupts all processors. Does nothing before Linux 5.14.
void fill_pages(void* p, size_t bytes);
/// Gives the pages back; they read as zero afterwards. `p` and `bytes` are page aligned.
void drop_pages(void* p, size_t bytes);

/// Writes everything, going on after interruptions; false if the file refuses.
bool write_all(int fd, const char* data, size_t size);

int thread_number();   // gettid
int process_number();  // getpid
void yield_processor();
/// Sleeps until somebody wakes those who wait for `word`, unless it is no longer `value`; may wake early.
void wait_while(const std::atomic<u32>& word, u32 value);
void wake_all(const std::atomic<u32>& word);
[[noreturn]] void exit_process(int code);

/// Makes every thread of the process pass a full memory barrier before it returns.
void barrier_all_threads();

constexpr size_t kPageSize = 4096;

}  // namespace duress
