// SPDX-License-Identifier: Apache-2.0
//
// Atomic updates: read-modify-write and compare-and-swap, as hooks_atomic.h does loads and stores; fences;
// the orders of operations after what-if edits.
#pragma once

#include "runtime/adversary.h"
#include "runtime/atomic_update.h"
#include "runtime/gone_frames.h"
#include "runtime/hooks_atomic.h"
#include "runtime/memory_guard.h"
#include "runtime/what_if.h"

namespace duress {

/// In controlled mode only: the return address of the hook, which names the operation, and the stack pointer
/// of its caller; 0: not known.
inline void note_atomic_caller(uptr pc, uptr frame) {
  if (DURESS_LIKELY(controlled() == nullptr)) return;
  t_hook_caller = pc;
  t_hook_frame = frame;
}

/// A schedule point before an exchange: as control_atomic, and the scheduler knows the value.
inline void control_exchange(const void* p, u64 size, u64 value, const DuressSite* site) {
  if (DURESS_UNLIKELY(g_learn_atomic != nullptr)) g_learn_atomic(p, size, true);
  if (DURESS_UNLIKELY(g_adversary != nullptr)) g_adversary->forget(address_of(p), address_of(p) + size);
  scheduler().point({OpKind::kAtomicRmw, static_cast<u32>(size), address_of(p), g_runtime->points.point(site),
                     reinterpret_cast<uptr>(site), site->line << 10 ^ site->column, 2, value});
  if (DURESS_UNLIKELY(g_memory_guard != nullptr)) guard_atomic(p, size, AccessKind::kAtomicRmw, site);
}

template <typename T>
T exchange_if(T* at, T expected, T desired) {
  return __sync_val_compare_and_swap(at, expected, desired);
}

template <typename T>
void write_memory(T* at, T value) {
  if constexpr (sizeof(T) == 16) {
    T old = *at;
    for (T seen; (seen = exchange_if<T>(at, old, value)) != old; old = seen) {
    }
  } else {
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
  }
}

/// An update under the model rc11: `function(old, &value)` says whether it writes.
template <typename T, typename Function>
class WeakUpdate final : public memory::Update {
 public:
  WeakUpdate(AtomicOperation& operation, MemoryOrder success, MemoryOrder failure, Function function)
      : operation_(operation), success_(success), failure_(failure), function_(function) {}
  Change apply(u128 old) const override {
    T value = 0;
    bool writes = function_(static_cast<T>(old), &value);
    return {value, writes};
  }
  void performed(bool wrote) override { operation_.updating(wrote, success_, failure_); }

 private:
  AtomicOperation& operation_;
  MemoryOrder success_, failure_;
  Function function_;
};

/// False: the model has no place for it, and nothing was done.
template <typename T, typename Function>
bool update_weakly(void* p, MemoryOrder success, MemoryOrder failure, const DuressSite* site,
                   Function function, T* old) {
  AtomicOperation operation(p, sizeof(T), true, site);
  auto* at = static_cast<T*>(p);
  WeakUpdate<T, Function> update(operation, success, failure, function);
  memory::Rc11Model::Updated updated;
  if (!operation.update_weakly(success, failure, *at, update, updated)) return false;
  *old = static_cast<T>(updated.read.value);
  auto value = static_cast<T>(updated.value);
  control_trace_value(static_cast<u64>(updated.wrote ? value : *old), sizeof(T));
  if (!updated.wrote) return true;
  control_done(*old != value);
  if (updated.written.newest) write_memory(at, value);
  return true;
}

/// Others may write at the same time, so even under the object's lock this is atomic.
template <typename T>
T update_memory(T* at, T v, u32 op) {
  T old;
  if constexpr (sizeof(T) == 16) {
    old = exchange_if<T>(at, 0, 0);
  } else {
    if (op == kDuressAdd) return __atomic_fetch_add(at, v, __ATOMIC_SEQ_CST);
    old = __atomic_load_n(at, __ATOMIC_RELAXED);
  }
  for (T seen; (seen = exchange_if<T>(at, old, updated_value<T>(old, v, op))) != old; old = seen) {
  }
  return old;
}

template <typename T>
T atomic_rmw(void* p, T v, u32 op, MemoryOrder order, const DuressSite* site) {
  if (DURESS_UNLIKELY(controlled() != nullptr)) {
    if (op == kDuressXchg) {
      control_exchange(p, sizeof(T), static_cast<u64>(v), site);
    } else {
      control_atomic(p, sizeof(T), OpKind::kAtomicRmw, site);
    }
    T read;
    auto change = [v, op](T old, T* value) {
      *value = updated_value<T>(old, v, op);
      return true;
    };
    if (g_rc11 && update_weakly<T>(p, order, order, site, change, &read)) return read;
    T before = *static_cast<T*>(p), after = updated_value<T>(before, v, op);
    control_done(before != after);
    control_trace_value(static_cast<u64>(after), sizeof after);
  }
  auto* at = static_cast<T*>(p);
  T old;
  if (update_again<T>(p, order, site, [&] { old = update_memory<T>(at, v, op); })) return old;
  AtomicOperation operation(p, sizeof(T), true, site);
  old = update_memory<T>(at, v, op);
  operation.modified(order);
  return old;
}

template <typename T>
T atomic_cas(void* p, T expected, T desired, MemoryOrder success, MemoryOrder failure,
             const DuressSite* site) {
  if (DURESS_UNLIKELY(controlled() != nullptr)) {
    control_compare(p, sizeof(T), static_cast<u64>(expected), site);
    T read;
    auto change = [expected, desired](T old, T* value) {
      *value = desired;
      return old == expected;
    };
    if (g_rc11 && update_weakly<T>(p, success, failure, site, change, &read)) return read;
    T before = *static_cast<T*>(p), after = before == expected ? desired : before;
    control_done(before != after);
    control_trace_value(static_cast<u64>(after), sizeof after);
  }
  AtomicOperation operation(p, sizeof(T), true, site);
  T old = exchange_if<T>(static_cast<T*>(p), expected, desired);
  if (old == expected) {
    operation.modified(success);
  } else {
    operation.loaded(failure);
  }
  return old;
}

/// The orders of an operation, after what-if edits. With a site, joins that edits put before it are done.
struct Orders {
  Orders(u32 on_success, u32 on_failure, trail::AtomicKind kind, const DuressSite* site)
      : success(static_cast<MemoryOrder>(on_success)), failure(static_cast<MemoryOrder>(on_failure)) {
    if (DURESS_LIKELY(!g_what_if)) return;
    what_if_orders(t_hook_caller, kind, &success, &failure);
    if (site && controlled()) what_if_join(site);
  }
  MemoryOrder success, failure;
};

/// The clocks of a fence.
inline void atomic_fence(u32 order) {
  Thread* t = current_thread_or_adopt();
  InRuntime in(t);
  if (!in.entered()) return;
  if (DURESS_UNLIKELY(g_rc11 != nullptr && controlled())) {
    g_rc11->fence(*t, static_cast<MemoryOrder>(order));
    FastTrack::after_sync(t->fasttrack);
    g_runtime->engine.notify_chain(*t, {SyncKind::kFence, 0, order});
  } else {
    g_runtime->engine.apply(*t, {SyncKind::kFence, 0, order});
  }
}

}  // namespace duress
