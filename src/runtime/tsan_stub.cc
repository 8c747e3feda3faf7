// SPDX-License-Identifier: Apache-2.0
//
// ThreadSanitizer's hooks for shared libraries that duress-cc links, as stub.cc has ours: weak, and inert
// where the executable brings no runtime. Annotations are not here: a library that uses them has its own
// definitions.
#include <string.h>

#include "runtime/atomic_update.h"

using duress::u128;
using duress::u16;
using duress::u32;
using duress::u64;
using duress::u8;

#define DURESS_WEAK extern "C" __attribute__((weak, visibility("default")))
#define DURESS_STUB_ACCESS(name)                   \
  DURESS_WEAK void __tsan_##name##read1(void*) {}  \
  DURESS_WEAK void __tsan_##name##write1(void*) {} \
  DURESS_STUB_WIDE(name)
#define DURESS_STUB_WIDE(name)                     \
  DURESS_WEAK void __tsan_##name##read2(void*) {}  \
  DURESS_WEAK void __tsan_##name##write2(void*) {} \
  DURESS_WEAK void __tsan_##name##read4(void*) {}  \
  DURESS_WEAK void __tsan_##name##write4(void*) {} \
  DURESS_WEAK void __tsan_##name##read8(void*) {}  \
  DURESS_WEAK void __tsan_##name##write8(void*) {} \
  DURESS_WEAK void __tsan_##name##read16(void*) {} \
  DURESS_WEAK void __tsan_##name##write16(void*) {}
DURESS_STUB_ACCESS()
DURESS_STUB_ACCESS(volatile_)
DURESS_STUB_WIDE(unaligned_)
DURESS_STUB_WIDE(unaligned_volatile_)
DURESS_WEAK void __tsan_read_write1(void*) {}
DURESS_WEAK void __tsan_read_write2(void*) {}
DURESS_WEAK void __tsan_read_write4(void*) {}
DURESS_WEAK void __tsan_read_write8(void*) {}
DURESS_WEAK void __tsan_read_write16(void*) {}
DURESS_WEAK void __tsan_unaligned_read_write2(void*) {}
DURESS_WEAK void __tsan_unaligned_read_write4(void*) {}
DURESS_WEAK void __tsan_unaligned_read_write8(void*) {}
DURESS_WEAK void __tsan_unaligned_read_write16(void*) {}
DURESS_WEAK void __tsan_init() {}
DURESS_WEAK void __tsan_read_range(void*, u64) {}
DURESS_WEAK void __tsan_write_range(void*, u64) {}
DURESS_WEAK void __tsan_vptr_read(void**) {}
DURESS_WEAK void __tsan_vptr_update(void**, void*) {}
DURESS_WEAK void __tsan_func_entry(void*) {}
DURESS_WEAK void __tsan_func_exit() {}
DURESS_WEAK void __tsan_ignore_thread_begin() {}
DURESS_WEAK void __tsan_ignore_thread_end() {}
DURESS_WEAK void* __tsan_memcpy(void* to, const void* from, u64 size) {
  return memcpy(to, from, size);
}
DURESS_WEAK void* __tsan_memmove(void* to, const void* from, u64 size) {
  return memmove(to, from, size);
}
DURESS_WEAK void* __tsan_memset(void* to, int byte, u64 size) {
  return memset(to, byte, size);
}
DURESS_WEAK void __tsan_atomic_thread_fence(u32) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
DURESS_WEAK void __tsan_atomic_signal_fence(u32) {}

namespace {

template <typename T>
T update(volatile T* p, T value, u32 operation) {
  auto* at = const_cast<T*>(p);
  T old = *at;
  for (T seen;
       (seen = __sync_val_compare_and_swap(at, old, duress::updated_value<T>(old, value, operation))) != old;)
    old = seen;
  return old;
}

template <typename T>
int compare(volatile T* p, T* expected, T desired) {
  T old = __sync_val_compare_and_swap(const_cast<T*>(p), *expected, desired);
  if (old == *expected) return 1;
  *expected = old;
  return 0;
}

}  // namespace

#define DURESS_STUB_UPDATE(bits, T, name, operation)                        \
  DURESS_WEAK T __tsan_atomic##bits##_##name(volatile T* p, T value, u32) { \
    return update<T>(p, value, operation);                                  \
  }
#define DURESS_STUB_ATOMIC(bits, T)                                                                   \
  DURESS_WEAK T __tsan_atomic##bits##_load(const volatile T* p, u32) {                                \
    return __sync_val_compare_and_swap(const_cast<T*>(p), T{0}, T{0});                                \
  }                                                                                                   \
  DURESS_WEAK void __tsan_atomic##bits##_store(volatile T* p, T value, u32) {                         \
    update<T>(p, value, kDuressXchg);                                                                 \
  }                                                                                                   \
  DURESS_STUB_UPDATE(bits, T, exchange, kDuressXchg)                                                  \
  DURESS_STUB_UPDATE(bits, T, fetch_add, kDuressAdd)                                                  \
  DURESS_STUB_UPDATE(bits, T, fetch_sub, kDuressSub)                                                  \
  DURESS_STUB_UPDATE(bits, T, fetch_and, kDuressAnd)                                                  \
  DURESS_STUB_UPDATE(bits, T, fetch_or, kDuressOr)                                                    \
  DURESS_STUB_UPDATE(bits, T, fetch_xor, kDuressXor)                                                  \
  DURESS_STUB_UPDATE(bits, T, fetch_nand, kDuressNand)                                                \
  DURESS_WEAK int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* c, T v, u32, u32) { \
    return compare<T>(p, c, v);                                                                       \
  }                                                                                                   \
  DURESS_WEAK int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* c, T v, u32, u32) {   \
    return compare<T>(p, c, v);                                                                       \
  }                                                                                                   \
  DURESS_WEAK T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T c, T v, u32, u32) {       \
    return __sync_val_compare_and_swap(const_cast<T*>(p), c, v);                                      \
  }
DURESS_STUB_ATOMIC(8, u8)
DURESS_STUB_ATOMIC(16, u16)
DURESS_STUB_ATOMIC(32, u32)
DURESS_STUB_ATOMIC(64, u64)
DURESS_STUB_ATOMIC(128, u128)
