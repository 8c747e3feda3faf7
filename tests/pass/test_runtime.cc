// SPDX-License-Identifier: Apache-2.0
//
// A runtime for testing the pass alone: every hook of hooks.def, performing what it should and counting
// calls, with a toy shadow so that inline checks can pass. It detects nothing. DURESS_TEST_BODY (0, 1, 2)
// chooses the body of every function; DURESS_TEST_QUIET=1 makes every site quiet, =w
// all of memory watched besides; DURESS_TEST_COUNTS=1 prints how often each hook ran when the program
// ends.
#include <dlfcn.h>
#include <duress/hooks.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using u128 = unsigned __int128;

extern "C" {
#define DURESS_HOOK(name, result, params) result name params;
#define DURESS_HOOK_SLOW(name, result, params) __attribute__((preserve_most)) result name params;
#include <duress/hooks.def>
#undef DURESS_HOOK
#undef DURESS_HOOK_SLOW

__attribute__((tls_model("initial-exec"))) thread_local DuressSelf __duress_self;
u8 __duress_watched[1 << DURESS_WATCHED_BITS];
}

namespace {

enum Hook : int {
#define DURESS_HOOK(name, result, params) k_##name,
#define DURESS_HOOK_SLOW(name, result, params) k_##name,
#include <duress/hooks.def>
#undef DURESS_HOOK
#undef DURESS_HOOK_SLOW
  kHooks
};
const char* const kNames[] = {
#define DURESS_HOOK(name, result, params) #name,
#define DURESS_HOOK_SLOW(name, result, params) #name,
#include <duress/hooks.def>
#undef DURESS_HOOK
#undef DURESS_HOOK_SLOW
};
u64 counts[kHooks];
u64 range_bytes[2];  // read, written
DuressFrame* main_frames;
bool awake;

void count(Hook hook) {
  __atomic_fetch_add(&counts[hook], 1, __ATOMIC_RELAXED);
}

constexpr u64 kTag = 3;
constexpr u64 kEntries = u64{1} << 28;  // so many that blocks that are in use do not meet in one entry

DuressFrame* new_frames() {
  return static_cast<DuressFrame*>(
      mmap(nullptr, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

void start_thread_state() {
  __duress_self.filter = static_cast<DuressFilterEntry*>(
      mmap(nullptr, kEntries * sizeof(DuressFilterEntry), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (__duress_self.filter == MAP_FAILED) abort();
  __duress_self.filter_index = kEntries - 1;
  __duress_self.filter_blocks = ~u64{255};
  __duress_self.filter_tag = kTag;
  __duress_self.frames = new_frames();
}

void make_quiet(const DuressModule* module) {
  const auto* at = module->sites_begin;
  while (at < module->sites_end) {
    const auto* header = reinterpret_cast<const DuressSiteHeader*>(at++);
    if (memcmp(header->magic, "DURS", 4) != 0) continue;
    memset(const_cast<char*>(reinterpret_cast<const char*>(&header->rel_quiet)) + header->rel_quiet, 1,
           header->sites);
    at += header->sites;
  }
}

void print_counts() {
  for (int i = 0; i < kHooks; ++i) {
    if (counts[i] != 0) fprintf(stderr, "%s %lu\n", kNames[i], counts[i]);
  }
  fprintf(stderr, "range_bytes %lu %lu\n", range_bytes[0], range_bytes[1]);
  fprintf(stderr, "frames %ld\n", __duress_self.frames - main_frames);
}

/// What a detector would do with a first access: remember it in the filter.
void touch(const void* p, u64 n, bool write) {
  if (!awake) return;
  for (u64 i = 0; i < n; ++i) {
    u64 a = reinterpret_cast<u64>(p) + i;
    DuressFilterEntry& entry = __duress_self.filter[(a >> DURESS_FILTER_BLOCK_BITS) % kEntries];
    u64 key = (a & ~u64{255}) << DURESS_FILTER_KEY_SHIFT | kTag;
    if (entry.key != key) entry = {};
    entry.key = key;
    u8* masks = write ? entry.written : entry.read;
    masks[(a >> 3) % DURESS_FILTER_GRANULES] |= static_cast<u8>(1 << (a & 7));
  }
}

template <class T>
T volatile_load(const void* p) {
  T value;
  __builtin_memcpy(&value, p, sizeof value);  // any alignment
  return value;
}

template <class T>
T rmw(T* p, T v, u32 op) {
  using S = __make_signed(T);
  T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  for (;;) {
    T now = v;
    switch (op) {
      case kDuressXchg:
        now = v;
        break;
      case kDuressAdd:
        now = old + v;
        break;
      case kDuressSub:
        now = old - v;
        break;
      case kDuressAnd:
        now = old & v;
        break;
      case kDuressOr:
        now = old | v;
        break;
      case kDuressXor:
        now = old ^ v;
        break;
      case kDuressNand:
        now = ~(old & v);
        break;
      case kDuressMax:
        now = S(old) > S(v) ? old : v;
        break;
      case kDuressMin:
        now = S(old) < S(v) ? old : v;
        break;
      case kDuressUMax:
        now = old > v ? old : v;
        break;
      case kDuressUMin:
        now = old < v ? old : v;
        break;
    }
    if (__atomic_compare_exchange_n(p, &old, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return old;
  }
}

}  // namespace

extern "C" {

void __duress_module_init(const DuressModule* module) {
  static bool once;
  const char* body = getenv("DURESS_TEST_BODY");
  if (!once) {
    once = true;
    start_thread_state();
    main_frames = __duress_self.frames;
    if (getenv("DURESS_TEST_COUNTS") != nullptr) atexit(print_counts);
  }
  count(k___duress_module_init);
  if (body == nullptr) return;
  awake = true;
  memset(module->flags_begin, atoi(body), module->flags_end - module->flags_begin);
  const char* quiet = getenv("DURESS_TEST_QUIET");
  if (quiet != nullptr && *quiet) make_quiet(module);
  if (quiet != nullptr && *quiet == 'w') memset(__duress_watched, 1, sizeof __duress_watched);
}

#define CHECK(N)                                                                                       \
  __attribute__((preserve_most)) void __duress_check_read##N(const void* p, const DuressSite* site) {  \
    count(k___duress_check_read##N);                                                                   \
    touch(p, N, false);                                                                                \
  }                                                                                                    \
  __attribute__((preserve_most)) void __duress_check_write##N(const void* p, const DuressSite* site) { \
    count(k___duress_check_write##N);                                                                  \
    touch(p, N, true);                                                                                 \
  }                                                                                                    \
  __attribute__((preserve_most)) void __duress_test_read##N(const void* p, const DuressSite* site) {   \
    count(k___duress_test_read##N);                                                                    \
    touch(p, N, false);                                                                                \
  }                                                                                                    \
  __attribute__((preserve_most)) void __duress_test_write##N(const void* p, const DuressSite* site) {  \
    count(k___duress_test_write##N);                                                                   \
    touch(p, N, true);                                                                                 \
  }
CHECK(1)
CHECK(2)
CHECK(4)
CHECK(8)
CHECK(16)

void __duress_range_read(const void* p, u64 n, const DuressSite* site) {
  count(k___duress_range_read);
  __atomic_fetch_add(&range_bytes[0], n, __ATOMIC_RELAXED);
  if (n != 0)
    (void)*static_cast<const volatile char*>(p), (void)*(static_cast<const volatile char*>(p) + n - 1);
  touch(p, n, false);
}
void __duress_range_write(const void* p, u64 n, const DuressSite* site) {
  count(k___duress_range_write);
  __atomic_fetch_add(&range_bytes[1], n, __ATOMIC_RELAXED);
  if (n != 0)
    (void)*static_cast<const volatile char*>(p), (void)*(static_cast<const volatile char*>(p) + n - 1);
  touch(p, n, true);
}

static void touch_strided(const void* p, u64 n, u64 stride, u64 size, bool write) {
  for (u64 i = 0; i < n; ++i) {
    const char* a = static_cast<const char*>(p) + i * stride;
    (void)*static_cast<const volatile char*>(a);
    touch(a, size, write);
  }
}
void __duress_stride_read(const void* p, u64 n, u64 stride, u64 size, const DuressSite* site) {
  count(k___duress_stride_read);
  touch_strided(p, n, stride, size, false);
}
void __duress_stride_write(const void* p, u64 n, u64 stride, u64 size, const DuressSite* site) {
  count(k___duress_stride_write);
  touch_strided(p, n, stride, size, true);
}

#define SIZED(N, T)                                                                              \
  T __duress_load##N(const void* p, const DuressSite* site) {                                    \
    count(k___duress_load##N);                                                                   \
    return volatile_load<T>(p);                                                                  \
  }                                                                                              \
  void __duress_store##N(void* p, T v, const DuressSite* site) {                                 \
    count(k___duress_store##N);                                                                  \
    __builtin_memcpy(p, &v, sizeof v);                                                           \
  }                                                                                              \
  T __duress_atomic_load##N(const void* p, u32 order, const DuressSite* site) {                  \
    count(k___duress_atomic_load##N);                                                            \
    return __atomic_load_n(static_cast<const T*>(p), __ATOMIC_SEQ_CST);                          \
  }                                                                                              \
  void __duress_atomic_store##N(void* p, T v, u32 order, const DuressSite* site) {               \
    count(k___duress_atomic_store##N);                                                           \
    __atomic_store_n(static_cast<T*>(p), v, __ATOMIC_SEQ_CST);                                   \
  }                                                                                              \
  T __duress_atomic_rmw##N(void* p, T v, u32 op, u32 order, const DuressSite* site) {            \
    count(k___duress_atomic_rmw##N);                                                             \
    return rmw(static_cast<T*>(p), v, op);                                                       \
  }                                                                                              \
  T __duress_atomic_cas##N(void* p, T expected, T desired, u32 success, u32 failure,             \
                           const DuressSite* site) {                                             \
    count(k___duress_atomic_cas##N);                                                             \
    __atomic_compare_exchange_n(static_cast<T*>(p), &expected, desired, false, __ATOMIC_SEQ_CST, \
                                __ATOMIC_SEQ_CST);                                               \
    return expected;                                                                             \
  }
SIZED(1, u8)
SIZED(2, u16)
SIZED(4, u32)
SIZED(8, u64)
SIZED(16, u128)

void __duress_loadn(void* out, const void* p, u64 n, const DuressSite* site) {
  count(k___duress_loadn);
  memcpy(out, p, n);
}
void __duress_storen(void* p, const void* in, u64 n, const DuressSite* site) {
  count(k___duress_storen);
  memcpy(p, in, n);
}
void __duress_memcpy(void* d, const void* s, u64 n, const DuressSite* site) {
  count(k___duress_memcpy);
  memmove(d, s, n);
}
void __duress_memmove(void* d, const void* s, u64 n, const DuressSite* site) {
  count(k___duress_memmove);
  memmove(d, s, n);
}
void __duress_memset(void* d, u32 byte, u64 n, const DuressSite* site) {
  count(k___duress_memset);
  memset(d, static_cast<int>(byte), n);
}
void __duress_fence(u32 order, const DuressSite* site) {
  count(k___duress_fence);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __duress_assembly_begin(void* p, u64 size, const DuressSite* site) {
  count(k___duress_assembly_begin);
}
void __duress_assembly_end(void* p, u64 size, const DuressSite* site) {
  count(k___duress_assembly_end);
}

/// New threads need frames to push to.
struct Start {
  void* (*run)(void*);
  void* arg;
};
static void* run_thread(void* start) {
  Start copy = *static_cast<Start*>(start);
  free(start);
  start_thread_state();
  return copy.run(copy.arg);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attr, void* (*run)(void*), void* arg) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static Create next = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  auto* start = static_cast<Start*>(malloc(sizeof(Start)));
  *start = {run, arg};
  return next(thread, attr, run_thread, start);
}
}
