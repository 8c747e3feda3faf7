// SPDX-License-Identifier: Apache-2.0
#include "runtime/hooks_atomic.h"

namespace duress {

AtomicOperation::AtomicOperation(const void* p, u8 size, bool writes, const DuressSite* site)
    : thread_(g_runtime ? current_thread_or_adopt() : nullptr), site_(site), writes_(writes) {
  if (!thread_ || thread_->in_runtime) {
    thread_ = nullptr;
    return;
  }
  enter_runtime(thread_);
  Runtime& rt = *g_runtime;
  if (rt.checking) place_ = {rt.modules.site_id(site), rt.context(*thread_)};
  entry_ = rt.engine.atomic(*thread_, reinterpret_cast<uptr>(p), size);
  object_ = entry_->object;
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
  if (idle_) entry_->idle = object_->version.load(std::memory_order_relaxed);
  object_->lock.unlock();
  if (mixed_) rt.mixed_lock.unlock();
  rt.fasttrack.end_atomic(thread_->fasttrack);
  FastTrack::after_sync(thread_->fasttrack);
  thread_->in_runtime = false;
}

/// The chain hears of what was learnt, of the access, and of what is left behind, in this order.
void AtomicOperation::note(AccessKind access, MemoryOrder order) {
  Runtime& rt = *g_runtime;
  FastTrack::after_sync(thread_->fasttrack);
  if (!rt.checking) return;
  if (DURESS_LIKELY(rt.checks_atomics))
    rt.fasttrack.atomic_access(thread_->fasttrack, object_, access, place_);
  if (DURESS_LIKELY(rt.direct)) return;
  auto notify = [&](SyncKind kind) {
    rt.engine.notify_chain(*thread_,
                           {kind, object_->address, atomic_detail(static_cast<u64>(order), object_->size)});
  };
  if (access != AccessKind::kAtomicWrite) notify(SyncKind::kAtomicLoad);
  rt.chain.access(thread_->view, {object_->address, object_->size, access, place_});
  if (access == AccessKind::kAtomicWrite) notify(SyncKind::kAtomicStore);
  if (access == AccessKind::kAtomicRmw) notify(SyncKind::kAtomicRmw);
}

void AtomicOperation::loaded(MemoryOrder order) {
  if (!thread_) return;
  g_runtime->engine.atomic_load(*thread_, *object_, order, mixed_);
  note(AccessKind::kAtomicRead, order);
  bool same = entry_->version == object_->version.load(std::memory_order_relaxed) &&
              entry_->epoch == thread_->clock.own();
  *entry_ = {object_,
             mixed_ || writes_ ? SyncTable::Cache::kNever : object_->version.load(std::memory_order_relaxed),
             thread_->clock.own(), acquires(order) || (same && entry_->acquired), entry_->idle};
}

void AtomicOperation::stored(MemoryOrder order) {
  if (!thread_) return;
  note(AccessKind::kAtomicWrite, order);
  g_runtime->engine.atomic_store(*thread_, *object_, order, mixed_);
}

void AtomicOperation::modified(MemoryOrder order) {
  if (!thread_) return;
  g_runtime->engine.atomic_load(*thread_, *object_, order, mixed_);
  note(AccessKind::kAtomicRmw, order);
  g_runtime->engine.atomic_rmw(*thread_, *object_, order, mixed_);
  idle_ = order == MemoryOrder::kRelaxed && !g_runtime->checking && !mixed_ && object_->released.empty();
}

void AtomicOperation::acquired() {
  if (!thread_) return;
  g_runtime->engine.atomic_load(*thread_, *object_, MemoryOrder::kAcquire, mixed_);
  FastTrack::after_sync(thread_->fasttrack);
}

// ---- the model rc11

/// Atomics of several sizes at one place are beyond the model.
bool AtomicOperation::strongly() {
  if (mixed_) g_rc11->drop(object_->address, object_->address + object_->size);
  return mixed_;
}

u128 AtomicOperation::load_weakly(MemoryOrder order, u128 memory) {
  if (!thread_) return memory;
  if (strongly()) {
    loaded(order);
    return memory;
  }
  u128 value = g_rc11->load(*thread_, *object_, site_, order, memory);
  note(AccessKind::kAtomicRead, order);
  return value;
}

bool AtomicOperation::store_weakly(MemoryOrder order, u128 memory, u128 value) {
  if (!thread_) return true;
  if (strongly()) {
    stored(order);
    return true;
  }
  note(AccessKind::kAtomicWrite, order);
  return g_rc11->store(*thread_, *object_, site_, order, memory, value);
}

bool AtomicOperation::update_weakly(MemoryOrder success, MemoryOrder failure, u128 memory,
                                    memory::Update& update, memory::Rc11Model::Updated& updated) {
  if (!thread_ || strongly()) return false;
  updated = g_rc11->update(*thread_, *object_, site_, success, failure, memory, update);
  return true;
}

void AtomicOperation::updating(bool wrote, MemoryOrder success, MemoryOrder failure) {
  if (wrote) {
    note(AccessKind::kAtomicRmw, success);
  } else {
    note(AccessKind::kAtomicRead, failure);
  }
}

// ---- sync.h: atomics of the C++ library

void sync_futex(const void* waits_on) {
  if (!g_rc11) return;
  Thread* t = current_thread();
  InRuntime in(t);
  if (!in.entered()) return;
  g_rc11->futex(*t, waits_on);
  FastTrack::after_sync(t->fasttrack);
}

void sync_atomic_store(const void* address, u8 size, uptr) {
  if (!current_thread()) return;
  // A guard: a thread that reads an older value of it calls the function that stores, and gets the newest. So
  // nothing is lost when loads read the newest at once.
  if (g_rc11) g_rc11->forget(reinterpret_cast<uptr>(address), reinterpret_cast<uptr>(address) + size);
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

}  // namespace duress
