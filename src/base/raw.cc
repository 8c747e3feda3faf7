// SPDX-License-Identifier: Apache-2.0
#include "base/raw.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/check.h"

namespace duress {

// In a section of its own: where the program's system calls are watched (runtime/rollback_calls.h), those
// from here are not.
__attribute__((noinline, section("duress_calls"))) static long bare_syscall(long number, long a, long b,
                                                                            long c, long d, long e, long f) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

void (*g_on_raw_call)(const long (&call)[5], long result) = nullptr;

long raw_syscall(long number, long a, long b, long c, long d, long e, long f) {
  long result = bare_syscall(number, a, b, c, d, e, f);
  if (DURESS_UNLIKELY(g_on_raw_call != nullptr)) g_on_raw_call({number, a, b, c, d}, result);
  return result;
}

static bool failed(long result) {
  return result < 0 && result > -4096;
}

static void* map_with(uptr address, size_t bytes, long flags) {
  long result = raw_syscall(SYS_mmap, static_cast<long>(address), static_cast<long>(bytes),
                            PROT_READ | PROT_WRITE, flags, -1, 0);
  return failed(result) ? nullptr : reinterpret_cast<void*>(result);
}

MappedRange g_huge_mappings[kMostHugeMappings] = {};
OwnMappings g_own_mappings = {};

static void* map_own(size_t bytes, bool* was_there) {
  *was_there = false;
  uptr at = 0;
  if (g_own_mappings.next) {
    size_t room =
        (bytes + 2 * kPageSize - 1) & ~(kPageSize - 1);  // a page between neighbours keeps them apart
    at = __atomic_fetch_add(&g_own_mappings.next, room, __ATOMIC_RELAXED);
    *was_there = g_own_mappings.is_there && g_own_mappings.is_there(at, bytes);
    if (*was_there) return reinterpret_cast<void*>(at);
  }
  return map_with(at, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
}

void* map_memory(size_t bytes) {
  bool was_there = false;
  return map_memory(bytes, &was_there);
}

void* map_memory(size_t bytes, bool* was_there) {
  void* p = map_own(bytes, was_there);
  if (DURESS_UNLIKELY(bytes >= kHugeBytes) && p) {
    auto begin = reinterpret_cast<uptr>(p);
    for (MappedRange& range : g_huge_mappings) {
      if (range.end != 0) continue;
      range = {begin, begin + bytes};
      break;
    }
  }
  return p;
}

void* map_memory_at(uptr address, size_t bytes) {
  void* p = map_with(address, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE);
  if (p && p != reinterpret_cast<void*>(address)) {  // a kernel that does not know the flag
    unmap_memory(p, bytes);
    return nullptr;
  }
  return p;
}

void unmap_memory(void* p, size_t bytes) {
  if (DURESS_UNLIKELY(g_own_mappings.keeps != nullptr) &&
      g_own_mappings.keeps(reinterpret_cast<uptr>(p), bytes))
    return;
  raw_syscall(SYS_munmap, reinterpret_cast<long>(p), static_cast<long>(bytes));
}

void drop_pages(void* p, size_t bytes) {
  raw_syscall(SYS_madvise, reinterpret_cast<long>(p), static_cast<long>(bytes), MADV_DONTNEED);
}

bool write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    long n = raw_syscall(SYS_write, fd, reinterpret_cast<long>(data), static_cast<long>(size));
    if (n == -EINTR || n == -EAGAIN) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

void fill_pages(void* p, size_t bytes) {
  // A process that is rolled back has them already, and every page that counts as written is put back.
  if (g_own_mappings.keeps) return;
  constexpr long kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers do not have
  raw_syscall(SYS_madvise, reinterpret_cast<long>(p), static_cast<long>(bytes), kPopulateWrite);
}

int thread_number() {
  return static_cast<int>(raw_syscall(SYS_gettid));
}
int process_number() {
  return static_cast<int>(raw_syscall(SYS_getpid));
}
void yield_processor() {
  raw_syscall(SYS_sched_yield);
}

void wait_while(const std::atomic<u32>& word, u32 value) {
  raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, 0);
}
void wake_all(const std::atomic<u32>& word) {
  raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX);
}

void exit_process(int code) {
  for (;;) raw_syscall(SYS_exit_group, code);
}

void barrier_all_threads() {
  // Registration is cheap and idempotent, and a forked child needs it again.
  raw_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  if (raw_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
    raw_syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
  }
}

void (*g_on_fatal)() = nullptr;

[[noreturn]] static void give_up() {
  if (g_on_fatal) g_on_fatal();
  exit_process(125);
}

static size_t length(const char* s) {
  size_t n = 0;
  while (s[n]) ++n;
  return n;
}

static void say(const char* s) {
  write_all(2, s, length(s));
}

void check_failed(const char* file, int line, const char* what) {
  char digits[12];
  int n = 0;
  do digits[n++] = static_cast<char>('0' + line % 10);
  while (line /= 10);
  char text[12];
  for (int i = 0; i < n; ++i) text[i] = digits[n - 1 - i];
  text[n] = 0;
  say("duress: internal error: ");
  say(file);
  say(":");
  say(text);
  say(": ");
  say(what);
  say("\n");
  give_up();
}

void fatal(const char* what, const char* hint) {
  say("duress: ");
  say(what);
  if (*hint) {
    say("; ");
    say(hint);
  }
  say("\n");
  give_up();
}

}  // namespace duress
