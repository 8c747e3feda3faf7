// SPDX-License-Identifier: Apache-2.0
#include "analysis/sync_engine.h"

namespace duress {

class SyncEngine::ObjectGuard {
 public:
  ObjectGuard(const SyncEngine& engine, SyncObject* object)
      : lock_(engine.locking_ ? &object->lock : nullptr) {
    if (lock_) lock_->lock();
  }
  ~ObjectGuard() {
    if (lock_) lock_->unlock();
  }
  ObjectGuard(const ObjectGuard&) = delete;
  ObjectGuard& operator=(const ObjectGuard&) = delete;

 private:
  SpinLock* lock_;
};

/// A thread acquires something. Before the object is locked: it may have to wait for a collection.
class SyncEngine::Acquiring {
 public:
  Acquiring(const SyncEngine& engine, SyncThread& t) : fasttrack_(engine.parts_.fasttrack), t_(t.fasttrack) {
    fasttrack_.begin_acquire(t_);
  }
  ~Acquiring() { fasttrack_.end_acquire(t_); }
  Acquiring(const Acquiring&) = delete;
  Acquiring& operator=(const Acquiring&) = delete;

 private:
  FastTrack& fasttrack_;
  FastTrackThread& t_;
};

/// The primitive at an address; its memory is marked, so that it is forgotten when the memory is.
SyncObject* SyncEngine::object(SyncThread& t, uptr address) {
  if (SyncTable::Cache::Entry* known = t.syncs.find(address, 0)) return known->object;
  bool made;
  SyncObject* o = parts_.syncs.get(address, 0, &made);
  t.syncs.put(o);
  if (made) parts_.fasttrack.mark_sync(t.fasttrack, address);
  return o;
}

void SyncEngine::lock(SyncThread& t, uptr address, bool shared) {
  SyncObject* o = object(t, address);
  {
    Acquiring acquiring(*this, t);
    ObjectGuard guard(*this, o);
    t.clock.acquire(o->released);
    if (!shared) t.clock.acquire(o->readers);
  }
  LockSetId& locks = t.fasttrack.locks;
  SyncThread::LockAdded& known = t.lock_added(address);
  HeldLock held{address, shared};
  if (!(known.lock == held) || known.before != locks)
    known = {locks, parts_.lock_sets.add(locks, held), held};
  locks = known.after;
}

void SyncEngine::unlock(SyncThread& t, uptr address, bool shared) {
  SyncObject* o = object(t, address);
  {
    ObjectGuard guard(*this, o);
    if (shared) {
      t.clock.release_join(o->readers);
    } else {
      t.clock.release_to(o->released);
      o->readers.clear(parts_.arena);  // the writer acquired them when it locked
    }
  }
  LockSetId& locks = t.fasttrack.locks;
  const SyncThread::LockAdded& known = t.lock_added(address);
  HeldLock held{address, shared};
  bool last_taken = known.lock == held && known.after == locks && known.after != LockSets::kUnknown;
  locks = last_taken ? known.before : parts_.lock_sets.remove(locks, held);
}

/// An object that was never used carries nothing, and the chain knows nothing of it.
void SyncEngine::forget(SyncThread& t, const Sync& sync) {
  SyncObject* o = parts_.syncs.find(sync.object, 0);
  if (!o) return;
  {
    ObjectGuard guard(*this, o);
    o->released.clear(parts_.arena);
    o->readers.clear(parts_.arena);
  }
  notify_chain(t, sync);
}

void SyncEngine::apply(SyncThread& t, const Sync& sync) {
  switch (sync.kind) {
    case SyncKind::kMutexLock:
    case SyncKind::kReadLock:
      lock(t, sync.object, sync.kind == SyncKind::kReadLock);
      notify_chain(t, sync);
      break;
    case SyncKind::kMutexUnlock:
    case SyncKind::kReadUnlock:
      notify_chain(t, sync);
      unlock(t, sync.object, sync.kind == SyncKind::kReadUnlock);
      break;
    case SyncKind::kRelease: {
      notify_chain(t, sync);
      SyncObject* o = object(t, sync.object);
      ObjectGuard guard(*this, o);
      if (sync.detail) {
        t.clock.release_join(o->released);
      } else {
        t.clock.release_to(o->released);
      }
      break;
    }
    case SyncKind::kAcquire: {
      SyncObject* o = object(t, sync.object);
      {
        Acquiring acquiring(*this, t);
        ObjectGuard guard(*this, o);
        t.clock.acquire(o->released);
      }
      notify_chain(t, sync);
      break;
    }
    case SyncKind::kForget:
      forget(t, sync);
      break;
    case SyncKind::kFence: {
      {
        Acquiring acquiring(*this, t);
        t.clock.fence(static_cast<MemoryOrder>(sync.detail));
      }
      notify_chain(t, sync);
      break;
    }
    default:
      notify_chain(t, sync);
      break;
  }
  FastTrack::after_sync(t.fasttrack);
}

void SyncEngine::thread_created(SyncThread& parent, SyncThread& child, const Sync& sync) {
  parts_.fasttrack.thread_created();
  parent.clock.release_to(child.start);
  FastTrack::after_sync(parent.fasttrack);
  notify_chain(parent, sync);
}

void SyncEngine::thread_started(SyncThread& t, const Sync& sync) {
  {
    Acquiring acquiring(*this, t);
    t.clock.acquire(t.start);
  }
  parts_.fasttrack.thread_started();
  t.start.clear(parts_.arena);
  FastTrack::after_sync(t.fasttrack);
  notify_chain(t, sync);
}

void SyncEngine::thread_ended(SyncThread& t, const Sync& sync) {
  notify_chain(t, sync);
  // A robust mutex goes to the next owner when its owner ends without unlocking it.
  u32 count;
  const HeldLock* held = parts_.lock_sets.locks(t.fasttrack.locks, &count);
  for (u32 i = 0; i < count; ++i) {
    SyncObject* o = parts_.syncs.get(held[i].address, 0);
    ObjectGuard guard(*this, o);
    t.clock.release_join(o->released);
  }
  t.clock.release_to(t.end);
}

void SyncEngine::thread_joined(SyncThread& t, SyncThread& child, const Sync& sync) {
  {
    Acquiring acquiring(*this, t);
    t.clock.acquire(child.end);
  }
  FastTrack::after_sync(t.fasttrack);
  notify_chain(t, sync);
}

SyncTable::Cache::Entry* SyncEngine::atomic(SyncThread& t, uptr address, u8 size) {
  if (SyncTable::Cache::Entry* known = t.syncs.find(address, size)) return known;
  bool made;
  SyncObject* o = parts_.syncs.get(address, size, &made);
  if (DURESS_UNLIKELY(made)) {
    parts_.fasttrack.mark_sync(t.fasttrack, address);
    parts_.syncs.each_overlapping(address, size, [&](SyncObject* other) {
      if (other == o) return;
      other->overlapped.store(true, std::memory_order_release);
      o->overlapped.store(true, std::memory_order_release);
    });
  }
  return t.syncs.put(o);
}

/// A load that covers several atomics reads the last store of each.
void SyncEngine::atomic_load(SyncThread& t, SyncObject& object, MemoryOrder order, bool overlapped) {
  t.clock.atomic_load(object.released, order);
  if (DURESS_LIKELY(!overlapped)) return;
  parts_.syncs.each_overlapping(object.address, object.size, [&](SyncObject* other) {
    if (other != &object) t.clock.atomic_load(other->released, order);
  });
}

void SyncEngine::atomic_store(SyncThread& t, SyncObject& object, MemoryOrder order, bool overlapped) {
  t.clock.atomic_store(object.released, order);
  if (DURESS_UNLIKELY(overlapped)) store_to_overlapping(object);
}

void SyncEngine::atomic_rmw(SyncThread& t, SyncObject& object, MemoryOrder order, bool overlapped) {
  t.clock.atomic_rmw(object.released, order);
  if (DURESS_UNLIKELY(overlapped)) store_to_overlapping(object);
}

/// A store is the last one of every atomic it covers. Where it covers one in part, what that atomic
/// released before is kept too: an order too many, never one too few.
void SyncEngine::store_to_overlapping(SyncObject& object) {
  parts_.syncs.each_overlapping(object.address, object.size, [&](SyncObject* other) {
    if (other == &object) return;
    bool covered =
        other->address >= object.address && other->address + other->size <= object.address + object.size;
    ObjectGuard guard(*this, other);
    other->change_version(2);
    if (covered) {
      other->released.copy_from(parts_.arena, object.released);
    } else {
      other->released.join(parts_.arena, object.released);
    }
  });
}

void SyncEngine::fresh(SyncThread& t, uptr begin, uptr end) {
  parts_.fasttrack.forget(t.fasttrack, begin, end);
  parts_.chain.fresh(begin, end);
}

}  // namespace duress
