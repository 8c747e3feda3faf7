// SPDX-License-Identifier: Apache-2.0
//
// Linked into shared libraries (and static programs) in place of the runtime: weak definitions of every
// hook, so that a library links with `-z defs` and loads into programs that are not instrumented. It is
// inert there. In an instrumented program the executable's definitions come first and are used.
#include <string.h>

#include "runtime/atomic_update.h"

using duress::u128;
using duress::u16;
using duress::u32;
using duress::u64;
using duress::u8;

#define DURESS_WEAK extern "C" __attribute__((weak, visibility("default")))

extern "C" {
__attribute__((weak, visibility("default"))) DuressFrame __duress_scratch_frames[1 << 16];
__attribute__((weak, visibility("default"))) u8 __duress_watched[1 << DURESS_WATCHED_BITS];
__attribute__((weak, visibility("default"))) DuressFilterEntry __duress_no_filter;
__attribute__((weak, visibility("default"))) thread_local DuressSelf __duress_self = {
    &__duress_no_filter, 0, ~uint64_t{0}, 0, __duress_scratch_frames};
}

DURESS_WEAK void __duress_module_init(const DuressModule*) {}
DURESS_WEAK void __duress_fence(u32, const DuressSite*) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
DURESS_WEAK void __duress_assembly_begin(void*, u64, const DuressSite*) {}
DURESS_WEAK void __duress_assembly_end(void*, u64, const DuressSite*) {}
DURESS_WEAK void __duress_range_read(const void*, u64, const DuressSite*) {}
DURESS_WEAK void __duress_range_write(const void*, u64, const DuressSite*) {}
DURESS_WEAK void __duress_stride_read(const void*, u64, u64, u64, const DuressSite*) {}
DURESS_WEAK void __duress_stride_write(const void*, u64, u64, u64, const DuressSite*) {}
DURESS_WEAK void __duress_loadn(void* out, const void* p, u64 n, const DuressSite*) {
  memcpy(out, p, n);
}
DURESS_WEAK void __duress_storen(void* p, const void* in, u64 n, const DuressSite*) {
  memcpy(p, in, n);
}
DURESS_WEAK void __duress_memcpy(void* d, const void* s, u64 n, const DuressSite*) {
  memcpy(d, s, n);
}
DURESS_WEAK void __duress_memmove(void* d, const void* s, u64 n, const DuressSite*) {
  memmove(d, s, n);
}
DURESS_WEAK void __duress_memset(void* d, u32 byte, u64 n, const DuressSite*) {
  memset(d, static_cast<int>(byte), n);
}

template <typename T>
static T modify(T* at, T v, u32 op) {
  T old = *at;
  for (T seen; (seen = __sync_val_compare_and_swap(at, old, duress::updated_value<T>(old, v, op))) != old;)
    old = seen;
  return old;
}

#define DURESS_STUBS(N, T)                                                                                   \
  DURESS_WEAK __attribute__((preserve_most)) void __duress_check_read##N(const void*, const DuressSite*) {}  \
  DURESS_WEAK __attribute__((preserve_most)) void __duress_check_write##N(const void*, const DuressSite*) {} \
  DURESS_WEAK __attribute__((preserve_most)) void __duress_test_read##N(const void*, const DuressSite*) {}   \
  DURESS_WEAK __attribute__((preserve_most)) void __duress_test_write##N(const void*, const DuressSite*) {}  \
  DURESS_WEAK T __duress_load##N(const void* p, const DuressSite*) {                                         \
    T v;                                                                                                     \
    memcpy(&v, p, sizeof v);                                                                                 \
    return v;                                                                                                \
  }                                                                                                          \
  DURESS_WEAK void __duress_store##N(void* p, T v, const DuressSite*) {                                      \
    memcpy(p, &v, sizeof v);                                                                                 \
  }                                                                                                          \
  DURESS_WEAK T __duress_atomic_load##N(const void* p, u32, const DuressSite*) {                             \
    return __sync_val_compare_and_swap(static_cast<T*>(const_cast<void*>(p)), T{0}, T{0});                   \
  }                                                                                                          \
  DURESS_WEAK void __duress_atomic_store##N(void* p, T v, u32, const DuressSite*) {                          \
    modify<T>(static_cast<T*>(p), v, kDuressXchg);                                                           \
  }                                                                                                          \
  DURESS_WEAK T __duress_atomic_rmw##N(void* p, T v, u32 op, u32, const DuressSite*) {                       \
    return modify<T>(static_cast<T*>(p), v, op);                                                             \
  }                                                                                                          \
  DURESS_WEAK T __duress_atomic_cas##N(void* p, T expected, T desired, u32, u32, const DuressSite*) {        \
    return __sync_val_compare_and_swap(static_cast<T*>(p), expected, desired);                               \
  }
DURESS_STUBS(1, u8)
DURESS_STUBS(2, u16)
DURESS_STUBS(4, u32)
DURESS_STUBS(8, u64)
DURESS_STUBS(16, u128)
