// SPDX-License-Identifier: Apache-2.0
#include "runtime/hooks_atomic.h"

namespace duress {

AtomicOperation::AtomicOperation(const void* p, u8 size, bool writes, const DuressSite* site)
    : thread_(g_runtime ? current_thread_or_adopt() : nullptr), writes_(writes) {
  if (!thread_ || thread_->in_runtime) {
    thread_ = nullptr;
    return;
  }
  thread_->in_runtime = true;
  Runtime& rt = *g_runtime;
  place_ = {rt.modules.site_id(site), rt.context(*thread_)};
  bool made = false;
  entry_ = thread_->syncs.find(reinterpret_cast<uptr>(p), size);
  if (DURESS_UNLIKELY(!entry_))
    entry_ = thread_->syncs.put(rt.syncs.get(reinterpret_cast<uptr>(p), size, &made));
  object_ = entry_->object;
  if (DURESS_UNLIKELY(made)) {
    rt.syncs.each_overlapping(object_->address, size, [&](SyncObject* other) {
      if (other == object_) return;
      other->overlapped.store(true, std::memory_order_release);
      object_->overlapped.store(true, std::memory_order_release);
    });
  }
  rt.fasttrack.begin_atomic(thread_->fasttrack);
  mixed_ = object_->overlapped.load(std::memory_order_acquire);
  if (mixed_) rt.mixed_lock.lock();
  object_->lock.lock();
  if (writes_) {
    object_->change_version();
    std::atomic_thread_fence(std::memory_order_release);  // before the operation itself
  }
}

AtomicOperation::~AtomicOperation() {
  if (!thread_) return;
  Runtime& rt = *g_runtime;
  if (writes_) object_->change_version();
  object_->lock.unlock();
  if (mixed_) rt.mixed_lock.unlock();
  rt.fasttrack.end_atomic(thread_->fasttrack);
  FastTrack::after_sync(thread_->fasttrack);
  thread_->in_runtime = false;
}

void AtomicOperation::note(SyncKind kind, AccessKind access, MemoryOrder order) {
  Runtime& rt = *g_runtime;
  FastTrack::after_sync(thread_->fasttrack);
  rt.fasttrack.atomic_access(thread_->fasttrack, object_, access, place_);
  if (rt.direct) return;
  rt.chain.sync(thread_->view, {kind, object_->address, static_cast<u64>(order)});
  rt.chain.access(thread_->view, {object_->address, object_->size, access, place_});
}

/// A load that covers several atomics reads the last store of each.
void AtomicOperation::learn_overlapping(MemoryOrder order) {
  g_runtime->syncs.each_overlapping(object_->address, object_->size, [&](SyncObject* other) {
    if (other != object_) thread_->clock.atomic_load(other->released, order);
  });
}

/// A store is the last one of every atomic it covers. Where it covers one in part, what that atomic
/// released before is kept too: an order too many, never one too few.
void AtomicOperation::tell_overlapping() {
  Arena& arena = g_runtime->arena;
  g_runtime->syncs.each_overlapping(object_->address, object_->size, [&](SyncObject* other) {
    if (other == object_) return;
    bool covered = other->address >= object_->address &&
                   other->address + other->size <= object_->address + object_->size;
    SpinGuard guard(other->lock);
    other->change_version(2);
    if (covered) {
      other->released.copy_from(arena, object_->released);
    } else {
      other->released.join(arena, object_->released);
    }
  });
}

void AtomicOperation::loaded(MemoryOrder order) {
  if (!thread_) return;
  thread_->clock.atomic_load(object_->released, order);
  if (DURESS_UNLIKELY(mixed_)) learn_overlapping(order);
  note(SyncKind::kAtomicLoad, AccessKind::kAtomicRead, order);
  bool same = entry_->version == object_->version.load(std::memory_order_relaxed) &&
              entry_->epoch == thread_->clock.own();
  *entry_ = {object_,
             mixed_ || writes_ ? SyncTable::Cache::kNever : object_->version.load(std::memory_order_relaxed),
             thread_->clock.own(), acquires(order) || (same && entry_->acquired)};
}

void AtomicOperation::stored(MemoryOrder order) {
  if (!thread_) return;
  note(SyncKind::kAtomicStore, AccessKind::kAtomicWrite, order);
  thread_->clock.atomic_store(object_->released, order);
  if (DURESS_UNLIKELY(mixed_)) tell_overlapping();
}

void AtomicOperation::modified(MemoryOrder order) {
  if (!thread_) return;
  thread_->clock.atomic_load(object_->released, order);
  if (DURESS_UNLIKELY(mixed_)) learn_overlapping(order);
  note(SyncKind::kAtomicRmw, AccessKind::kAtomicRmw, order);
  thread_->clock.atomic_rmw(object_->released, order);
  if (DURESS_UNLIKELY(mixed_)) tell_overlapping();
}

void sync_atomic_store(const void* address, u8 size, uptr) {
  if (!current_thread()) return;
  static const DuressSite kNowhere = {};
  AtomicOperation op(address, size, true, &kNowhere);
  op.stored(MemoryOrder::kRelease);
}

void sync_atomic_load(const void* address, u8 size, uptr) {
  if (!current_thread()) return;
  static const DuressSite kNowhere = {};
  AtomicOperation op(address, size, false, &kNowhere);
  op.loaded(MemoryOrder::kAcquire);
}

namespace {

template <typename T>
T apply(T old, T v, u32 op) {
  switch (op) {
    case kDuressXchg:
      return v;
    case kDuressAdd:
      return static_cast<T>(old + v);
    case kDuressSub:
      return static_cast<T>(old - v);
    case kDuressAnd:
      return static_cast<T>(old & v);
    case kDuressOr:
      return static_cast<T>(old | v);
    case kDuressXor:
      return static_cast<T>(old ^ v);
    case kDuressNand:
      return static_cast<T>(~(old & v));
    case kDuressUMax:
      return old > v ? old : v;
    case kDuressUMin:
      return old < v ? old : v;
    default:
      break;
  }
  // Signed comparison: flip the sign bits and compare unsigned.
  T sign = static_cast<T>(T{1} << (sizeof(T) * 8 - 1));
  bool less = static_cast<T>(old ^ sign) < static_cast<T>(v ^ sign);
  return (op == kDuressMax) == less ? v : old;
}

template <typename T>
T exchange_if(T* at, T expected, T desired) {
  return __sync_val_compare_and_swap(at, expected, desired);
}

template <typename T>
T atomic_rmw(void* p, T v, u32 op, MemoryOrder order, const DuressSite* site) {
  if (DURESS_UNLIKELY(controlled() != nullptr)) {
    control_atomic(p, sizeof(T), OpKind::kAtomicRmw, site);
    T before = *static_cast<T*>(p), after = apply<T>(before, v, op);
    control_done(before != after);
    control_trace_value(static_cast<u64>(after), sizeof after);
  }
  AtomicOperation operation(p, sizeof(T), true, site);
  auto* at = static_cast<T*>(p);
  T old;
  if constexpr (sizeof(T) == 16) {
    old = exchange_if<T>(at, 0, 0);
  } else {
    old = __atomic_load_n(at, __ATOMIC_RELAXED);
  }
  // Uninstrumented code may write at the same time, so even under the object's lock this is a loop.
  for (T seen; (seen = exchange_if<T>(at, old, apply<T>(old, v, op))) != old; old = seen) {
  }
  operation.modified(order);
  return old;
}

template <typename T>
T atomic_cas(void* p, T expected, T desired, MemoryOrder success, MemoryOrder failure,
             const DuressSite* site) {
  if (DURESS_UNLIKELY(controlled() != nullptr)) {
    control_compare(p, sizeof(T), static_cast<u64>(expected), site);
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

}  // namespace
}  // namespace duress

using namespace duress;

#define DURESS_EXPORT extern "C" __attribute__((visibility("default")))
/// Only while somebody schedules: who called, for what the caller remembers.
#define DURESS_NOTE_CALLER() \
  if (DURESS_UNLIKELY(controlled() != nullptr)) t_hook_caller = DURESS_CALLER_PC
#define DURESS_ATOMIC_HOOKS(N, T)                                                                  \
  DURESS_EXPORT T __duress_atomic_load##N(const void* p, u32 order, const DuressSite* s) {         \
    DURESS_NOTE_CALLER();                                                                          \
    return atomic_load<T>(p, static_cast<MemoryOrder>(order), s);                                  \
  }                                                                                                \
  DURESS_EXPORT void __duress_atomic_store##N(void* p, T v, u32 order, const DuressSite* s) {      \
    DURESS_NOTE_CALLER();                                                                          \
    atomic_store<T>(p, v, static_cast<MemoryOrder>(order), s);                                     \
  }                                                                                                \
  DURESS_EXPORT T __duress_atomic_rmw##N(void* p, T v, u32 op, u32 order, const DuressSite* s) {   \
    DURESS_NOTE_CALLER();                                                                          \
    return atomic_rmw<T>(p, v, op, static_cast<MemoryOrder>(order), s);                            \
  }                                                                                                \
  DURESS_EXPORT T __duress_atomic_cas##N(void* p, T expected, T desired, u32 success, u32 failure, \
                                         const DuressSite* s) {                                    \
    DURESS_NOTE_CALLER();                                                                          \
    return atomic_cas<T>(p, expected, desired, static_cast<MemoryOrder>(success),                  \
                         static_cast<MemoryOrder>(failure), s);                                    \
  }
DURESS_ATOMIC_HOOKS(1, u8)
DURESS_ATOMIC_HOOKS(2, u16)
DURESS_ATOMIC_HOOKS(4, u32)
DURESS_ATOMIC_HOOKS(8, u64)
DURESS_ATOMIC_HOOKS(16, u128)

DURESS_EXPORT void __duress_fence(u32 order, const DuressSite*) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (!g_runtime) return;
  Thread* t = current_thread_or_adopt();
  InRuntime in(t);
  if (!in.entered()) return;
  t->clock.fence(static_cast<MemoryOrder>(order));
  FastTrack::after_sync(t->fasttrack);
  if (!g_runtime->direct) g_runtime->chain.sync(t->view, {SyncKind::kFence, 0, order});
}
