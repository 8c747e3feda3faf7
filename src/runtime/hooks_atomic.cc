// SPDX-License-Identifier: Apache-2.0
//
// Hooks of atomic operations. The operations are in hooks_atomic.h and hooks_atomic_update.h, because other
// hooks perform them too.
#include "runtime/hooks_atomic_update.h"

namespace duress {
namespace {

/// Whether a what-if edit moves the store after an access that is still to come.
template <typename T>
bool hold_back(void* p, T value, MemoryOrder order, const DuressSite* site) {
  if (sizeof(T) > 8 || !controlled() || !what_if_holds_back(t_hook_caller)) return false;
  publish_held_back();
  held_back_store() = {p, static_cast<u64>(value), sizeof(T), order, site};
  return true;
}

}  // namespace

void publish_held_back() {
  HeldBackStore store = held_back_store();
  held_back_store().size = 0;
  if (store.size == 1) atomic_store<u8>(store.p, static_cast<u8>(store.value), store.order, store.site);
  if (store.size == 2) atomic_store<u16>(store.p, static_cast<u16>(store.value), store.order, store.site);
  if (store.size == 4) atomic_store<u32>(store.p, static_cast<u32>(store.value), store.order, store.site);
  if (store.size == 8) atomic_store<u64>(store.p, store.value, store.order, store.site);
}

}  // namespace duress

using namespace duress;

#define DURESS_EXPORT extern "C" __attribute__((visibility("default")))
#define DURESS_NOTE_CALLER() note_atomic_caller(DURESS_CALLER_PC, DURESS_CALLER_FRAME)
using trail::AtomicKind;
#define DURESS_ATOMIC_HOOKS(N, T)                                                                  \
  DURESS_EXPORT T __duress_atomic_load##N(const void* p, u32 order, const DuressSite* s) {         \
    DURESS_NOTE_CALLER();                                                                          \
    return atomic_load<T>(p, Orders(order, order, AtomicKind::kLoad, s).success, s);               \
  }                                                                                                \
  DURESS_EXPORT void __duress_atomic_store##N(void* p, T v, u32 order, const DuressSite* s) {      \
    DURESS_NOTE_CALLER();                                                                          \
    Orders orders(order, order, AtomicKind::kStore, s);                                            \
    if (DURESS_UNLIKELY(g_what_if) && hold_back<T>(p, v, orders.success, s)) return;               \
    atomic_store<T>(p, v, orders.success, s);                                                      \
  }                                                                                                \
  DURESS_EXPORT T __duress_atomic_rmw##N(void* p, T v, u32 op, u32 order, const DuressSite* s) {   \
    DURESS_NOTE_CALLER();                                                                          \
    return atomic_rmw<T>(p, v, op, Orders(order, order, AtomicKind::kUpdate, s).success, s);       \
  }                                                                                                \
  DURESS_EXPORT T __duress_atomic_cas##N(void* p, T expected, T desired, u32 success, u32 failure, \
                                         const DuressSite* s) {                                    \
    DURESS_NOTE_CALLER();                                                                          \
    Orders orders(success, failure, AtomicKind::kCompare, s);                                      \
    return atomic_cas<T>(p, expected, desired, orders.success, orders.failure, s);                 \
  }
DURESS_ATOMIC_HOOKS(1, u8)
DURESS_ATOMIC_HOOKS(2, u16)
DURESS_ATOMIC_HOOKS(4, u32)
DURESS_ATOMIC_HOOKS(8, u64)
DURESS_ATOMIC_HOOKS(16, u128)

// The operation itself is the program's: it releases before, and acquires what others have left there by then
// after it. A locked instruction is a fence too, whatever it is performed on: oneTBB has one on a local for
// that. The memory models know nothing of the value, so the place is left to the memory.
DURESS_EXPORT void __duress_assembly_begin(void* p, u64 size, const DuressSite* site) {
  DURESS_NOTE_CALLER();
  if (DURESS_UNLIKELY(controlled() != nullptr)) {
    control_atomic(p, size, OpKind::kAtomicRmw, site);
    if (g_rc11) g_rc11->drop(address_of(p), address_of(p) + size);
  }
  if (g_runtime) atomic_fence(raw(MemoryOrder::kSeqCst));
  AtomicOperation operation(p, static_cast<u8>(size), true, site);
  operation.modified(MemoryOrder::kSeqCst);
}
DURESS_EXPORT void __duress_assembly_end(void* p, u64 size, const DuressSite* site) {
  {
    AtomicOperation operation(p, static_cast<u8>(size), false, site);
    operation.acquired();
  }
  if (g_runtime) atomic_fence(raw(MemoryOrder::kSeqCst));
}

DURESS_EXPORT void __duress_fence(u32 asked, const DuressSite*) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (!g_runtime) return;
  DURESS_NOTE_CALLER();
  u32 order = raw(Orders(asked, asked, AtomicKind::kFence, nullptr).success);
  atomic_fence(order);
}
