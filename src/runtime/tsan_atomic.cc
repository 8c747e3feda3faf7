// SPDX-License-Identifier: Apache-2.0
//
// ThreadSanitizer's hooks of atomic operations (tsan_hooks.h). Unlike those of plain accesses they perform
// the operation, so everything that ours do is done here too.
#include "runtime/hooks_atomic_update.h"
#include "runtime/tsan_hooks.h"

namespace duress {
namespace {

using trail::AtomicKind;

/// Compilers add bits for lock elision above the order.
constexpr u32 kOrderBits = 0x7fff;

/// One operation: its site and its orders.
struct Called {
  Called(uptr pc, DuressAccess access, u32 size, u32 success, u32 failure, AtomicKind kind)
      : site(tsan_site(pc, access, static_cast<u8>(size))),
        orders((note_atomic_caller(pc, 0), success & kOrderBits), failure & kOrderBits, kind, site) {}
  const DuressSite* site;
  Orders orders;
};

template <typename T>
T load(const volatile T* p, u32 order, uptr pc) {
  Called called(pc, kDuressAtomicRead, sizeof(T), order, order, AtomicKind::kLoad);
  return atomic_load<T>(const_cast<const T*>(p), called.orders.success, called.site);
}

template <typename T>
void store(volatile T* p, T value, u32 order, uptr pc) {
  Called called(pc, kDuressAtomicWrite, sizeof(T), order, order, AtomicKind::kStore);
  atomic_store<T>(const_cast<T*>(p), value, called.orders.success, called.site);
}

template <typename T>
T update(volatile T* p, T value, DuressRmw operation, u32 order, uptr pc) {
  Called called(pc, kDuressAtomicRmw, sizeof(T), order, order, AtomicKind::kUpdate);
  return atomic_rmw<T>(const_cast<T*>(p), value, operation, called.orders.success, called.site);
}

template <typename T>
T compare(volatile T* p, T expected, T desired, u32 success, u32 failure, uptr pc) {
  Called called(pc, kDuressAtomicRmw, sizeof(T), success, failure, AtomicKind::kCompare);
  return atomic_cas<T>(const_cast<T*>(p), expected, desired, called.orders.success, called.orders.failure,
                       called.site);
}

template <typename T>
int compare_into(volatile T* p, T* expected, T desired, u32 success, u32 failure, uptr pc) {
  T wanted = *expected, old = compare<T>(p, wanted, desired, success, failure, pc);
  if (old == wanted) return 1;
  *expected = old;
  return 0;
}

}  // namespace
}  // namespace duress

using namespace duress;

#define DURESS_TSAN_UPDATE(bits, T, name, operation)                                \
  DURESS_EXPORT T __tsan_atomic##bits##_##name(volatile T* p, T value, u32 order) { \
    return update<T>(p, value, operation, order, DURESS_CALLER_PC);                 \
  }
#define DURESS_TSAN_COMPARE(bits, T, strength)                                                               \
  DURESS_EXPORT int __tsan_atomic##bits##_compare_exchange_##strength(volatile T* p, T* expected, T desired, \
                                                                      u32 success, u32 failure) {            \
    return compare_into<T>(p, expected, desired, success, failure, DURESS_CALLER_PC);                        \
  }
#define DURESS_TSAN_ATOMIC(bits, T)                                                                \
  DURESS_EXPORT T __tsan_atomic##bits##_load(const volatile T* p, u32 order) {                     \
    return load<T>(p, order, DURESS_CALLER_PC);                                                    \
  }                                                                                                \
  DURESS_EXPORT void __tsan_atomic##bits##_store(volatile T* p, T value, u32 order) {              \
    store<T>(p, value, order, DURESS_CALLER_PC);                                                   \
  }                                                                                                \
  DURESS_TSAN_UPDATE(bits, T, exchange, kDuressXchg)                                               \
  DURESS_TSAN_UPDATE(bits, T, fetch_add, kDuressAdd)                                               \
  DURESS_TSAN_UPDATE(bits, T, fetch_sub, kDuressSub)                                               \
  DURESS_TSAN_UPDATE(bits, T, fetch_and, kDuressAnd)                                               \
  DURESS_TSAN_UPDATE(bits, T, fetch_or, kDuressOr)                                                 \
  DURESS_TSAN_UPDATE(bits, T, fetch_xor, kDuressXor)                                               \
  DURESS_TSAN_UPDATE(bits, T, fetch_nand, kDuressNand)                                             \
  DURESS_TSAN_COMPARE(bits, T, strong)                                                             \
  DURESS_TSAN_COMPARE(bits, T, weak)                                                               \
  DURESS_EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T desired, \
                                                             u32 success, u32 failure) {           \
    return compare<T>(p, expected, desired, success, failure, DURESS_CALLER_PC);                   \
  }
DURESS_TSAN_ATOMIC(8, u8)
DURESS_TSAN_ATOMIC(16, u16)
DURESS_TSAN_ATOMIC(32, u32)
DURESS_TSAN_ATOMIC(64, u64)
DURESS_TSAN_ATOMIC(128, u128)

DURESS_EXPORT void __tsan_atomic_thread_fence(u32 asked) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (!g_runtime) return;
  note_atomic_caller(DURESS_CALLER_PC, 0);
  atomic_fence(raw(Orders(asked & kOrderBits, asked & kOrderBits, AtomicKind::kFence, nullptr).success));
}
DURESS_EXPORT void __tsan_atomic_signal_fence(u32) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
