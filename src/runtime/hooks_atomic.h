// SPDX-License-Identifier: Apache-2.0
//
// Atomic operations, performed under the lock of the atomic's SyncObject: so the order of operations
// on one atomic is the order of the lock, and an acquire learns from the store it really read.
#pragma once

#include "runtime/control.h"
#include "runtime/rc11.h"
#include "runtime/runtime.h"

namespace duress {

/// One atomic operation of the calling thread, from the look-up of its object to the release of its lock.
class AtomicOperation {
 public:
  AtomicOperation(const void* p, u8 size, bool writes, const DuressSite* site);
  ~AtomicOperation();
  AtomicOperation(const AtomicOperation&) = delete;
  AtomicOperation& operator=(const AtomicOperation&) = delete;

  // Instead, under the model rc11. `memory` is what memory holds.
  /// What the load returns.
  u128 load_weakly(MemoryOrder order, u128 memory);
  /// Whether to write it to memory.
  bool store_weakly(MemoryOrder order, u128 memory, u128 value);
  /// False: not under the model. Else `updated` says what to return and to write.
  bool update_weakly(MemoryOrder success, MemoryOrder failure, u128 memory, memory::Update& update,
                     memory::Rc11Model::Updated& updated);
  /// An update has acquired, and releases next.
  void updating(bool wrote, MemoryOrder success, MemoryOrder failure);

  // After the real operation; each does nothing when the thread is not analysed.
  void loaded(MemoryOrder order);
  void stored(MemoryOrder order);
  void modified(MemoryOrder order);  // a read-modify-write that wrote
  /// Acquires what is there, and is no access: the operation was made before, and the memory may be gone.
  void acquired();

 private:
  void note(AccessKind access, MemoryOrder order);
  bool strongly();

  Thread* thread_;
  const DuressSite* site_;
  SyncTable::Cache::Entry* entry_ = nullptr;
  bool writes_;
  SyncObject* object_ = nullptr;
  Place place_ = {};
  bool mixed_ = false;
  bool idle_ = false;  // see SyncTable::Cache::Entry
};

/// A load of an atomic that has not changed since this thread's last load of it in the same epoch teaches
/// nothing new and was checked then. Such loads, the heart of every spin and every bound check, take no lock.
template <typename T>
inline bool load_again(const void* p, MemoryOrder order, T* value) {
  Thread* t = current_thread();
  if (!t || t->in_runtime || !g_runtime->firsts) return false;
  SyncTable::Cache::Entry* e = t->syncs.find(reinterpret_cast<uptr>(p), sizeof(T));
  if (!e || e->epoch != t->clock.own() || t->clock.released() || (acquires(order) && !e->acquired))
    return false;
  if (e->object->version.load(std::memory_order_acquire) != e->version) return false;
  *value = __atomic_load_n(static_cast<const T*>(p), __ATOMIC_ACQUIRE);
  return e->object->version.load(std::memory_order_acquire) == e->version &&
         e->object->address == reinterpret_cast<uptr>(p);
}

/// A relaxed update of an atomic at which nothing was released, where no race is looked for: a counter that
/// all threads share. It takes no lock, and changes no version, because others have nothing to learn either.
/// `change()` performs it.
template <typename T, typename Change>
inline bool update_again(void* p, MemoryOrder order, const DuressSite* site, Change change) {
  Thread* t = current_thread();
  if (order != MemoryOrder::kRelaxed || !t || t->in_runtime || t->clock.fenced()) return false;
  SyncTable::Cache::Entry* e = t->syncs.find(reinterpret_cast<uptr>(p), sizeof(T));
  if (!e || e->object->version.load(std::memory_order_acquire) != e->idle ||
      e->object->overlapped.load(std::memory_order_acquire))
    return false;
  change();
  // Somebody released there meanwhile, and this may have read it: an order too many, never one too few.
  if (e->object->version.load(std::memory_order_acquire) != e->idle) {
    AtomicOperation op(p, sizeof(T), false, site);
    op.loaded(order);
  }
  return true;
}

template <typename T>
T atomic_load(const void* p, MemoryOrder order, const DuressSite* site) {
  bool point = controlled() != nullptr;
  if (DURESS_UNLIKELY(point)) control_atomic(p, sizeof(T), OpKind::kAtomicRead, site);
  if constexpr (sizeof(T) <= 8) {
    T again;
    if (load_again<T>(p, order, &again)) {
      if (DURESS_UNLIKELY(point)) control_trace_value(static_cast<u64>(again), sizeof again);
      return again;
    }
  }
  AtomicOperation op(p, sizeof(T), false, site);
  T value;
  if constexpr (sizeof(T) == 16) {
    value = __sync_val_compare_and_swap(static_cast<T*>(const_cast<void*>(p)), T{0}, T{0});
  } else {
    value = __atomic_load_n(static_cast<const T*>(p), __ATOMIC_SEQ_CST);
  }
  if (DURESS_UNLIKELY(point && g_rc11 != nullptr)) {
    value = static_cast<T>(op.load_weakly(order, value));
  } else {
    op.loaded(order);
  }
  if (DURESS_UNLIKELY(point)) control_trace_value(static_cast<u64>(value), sizeof value);
  return value;
}

template <typename T>
void atomic_store(void* p, T value, MemoryOrder order, const DuressSite* site) {
  bool point = controlled() != nullptr;
  if (DURESS_UNLIKELY(point)) {
    control_atomic(p, sizeof(T), OpKind::kAtomicWrite, site);
    // Under rc11 a store is a change even if memory holds its value: it is another store in modification
    // order, and one that comes between the two may be placed later.
    control_done(g_rc11 != nullptr || *static_cast<T*>(p) != value);
    control_trace_value(static_cast<u64>(value), sizeof value);
  }
  AtomicOperation op(p, sizeof(T), true, site);
  auto* at = static_cast<T*>(p);
  bool weak = DURESS_UNLIKELY(point && g_rc11 != nullptr);
  if (weak && !op.store_weakly(order, *at, value)) return;
  if constexpr (sizeof(T) == 16) {
    T old = *at;
    for (T seen; (seen = __sync_val_compare_and_swap(at, old, value)) != old; old = seen) {
    }
  } else {
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
  }
  if (!weak) op.stored(order);
}

}  // namespace duress
