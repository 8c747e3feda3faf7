// SPDX-License-Identifier: Apache-2.0
//
// The order within an event is the runtime's (sync.cc, hooks_atomic.cc): what is learnt is learnt before the
// chain hears of it, what is left behind is left after.
#include "analysis/player.h"

#include <string.h>

#include "analysis/fasttrack/hot_path.h"

namespace duress {

struct Player::Thread {
  Thread(Arena& arena, Tid id, Slot slot, Clock first)
      : clock(arena, slot, first), fasttrack(clock, &self), view{id, &clock, &fasttrack, &fasttrack.locks} {}

  DuressSelf self = {};
  ThreadClock clock;
  FastTrackThread fasttrack;
  AnalysisThread view;
  ReleaseClock start, end;
  bool ended = false;
  SyncTable::Cache syncs;
  struct LockAdded {
    LockSetId before, after;
    HeldLock lock;
  };
  LockAdded added[64] = {};  // as the runtime's: "this set and that lock" without the table
};

SyncObject* Player::object(Thread& t, uptr address, u8 size) {
  if (SyncTable::Cache::Entry* known = t.syncs.find(address, size)) return known->object;
  bool made;
  SyncObject* o = syncs_.get(address, size, &made);
  if (made && size != 0) {
    syncs_.each_overlapping(address, size, [&](SyncObject* other) {
      if (other != o) other->overlapped = o->overlapped = true;
    });
  }
  t.syncs.put(o);
  return o;
}

void Player::hold(Thread& t, HeldLock lock) {
  Thread::LockAdded& known = t.added[(lock.address * 0x9e3779b97f4a7c15u) >> 58];
  if (!(known.lock == lock) || known.before != t.fasttrack.locks)
    known = {t.fasttrack.locks, lock_sets_.add(t.fasttrack.locks, lock), lock};
  t.fasttrack.locks = known.after;
}

void Player::let_go(Thread& t, HeldLock lock) {
  const Thread::LockAdded& known = t.added[(lock.address * 0x9e3779b97f4a7c15u) >> 58];
  bool last = known.lock == lock && known.after == t.fasttrack.locks && known.after != LockSets::kUnknown;
  t.fasttrack.locks = last ? known.before : lock_sets_.remove(t.fasttrack.locks, lock);
}

/// The way of nearly every access when FastTrack is alone. False: it is not done.
__attribute__((always_inline)) inline bool Player::quickly(Thread& t, const Access& a) {
  if (a.size > 8 || (a.address & 7) + a.size > 8 || a.kind > AccessKind::kWrite) return false;
  if (t.fasttrack.self->epoch_span == 0) fasttrack_.open_epoch(t.fasttrack);
  FastTrack::Outcome outcome =
      a.kind == AccessKind::kWrite
          ? fasttrack_.try_access<true, true>(t.fasttrack, a.address, a.size, a.place)
          : fasttrack_.try_access<false, true>(t.fasttrack, a.address, a.size, a.place);
  return outcome == FastTrack::Outcome::kDone;
}

Player::Player(Arena& arena, ShadowMap& shadow, RaceSink& findings, LineSink& lines)
    : arena_(arena),
      lines_(lines),
      fasttrack_(arena, shadow, syncs_, findings),
      context_{arena, findings, lines, lock_sets_, &fasttrack_} {}

Player::~Player() {
  for (Thread* t : threads_) {
    if (!t) continue;
    if (!t->ended) fasttrack_.detach(t->fasttrack);
    t->start.clear(arena_);
    t->end.clear(arena_);
    t->~Thread();
    arena_.free(t, sizeof(Thread));
  }
}

bool Player::build(const char* chain, const char** bad) {
  bool good = chain_.build(chain, &make_analysis, &context_, bad);
  has_fasttrack_ = good && chain_.has("FastTrack");
  only_fasttrack_ = good && strcmp(chain, "FastTrack") == 0;  // in brackets others may be beside it
  return good;
}

Player::Thread& Player::make_thread(Tid tid, const VectorClock& creator) {
  Slots::Taken taken = slots_.take(creator);
  Thread*& t = threads_[raw(tid)];
  t = arena_.make<Thread>(arena_, tid, taken.slot, taken.first);
  owners_[raw(tid)] = {taken.slot, taken.first};
  u32& last = last_owner_[raw(taken.slot)];
  owner_before_[raw(tid)] = last;
  last = raw(tid) + 1;
  fasttrack_.attach(t->fasttrack);
  return *t;
}

Player::Thread& Player::thread(Tid tid) {
  Thread* t = threads_[raw(tid)];
  if (DURESS_LIKELY(t != nullptr)) return *t;
  VectorClock nobody(arena_);
  return make_thread(tid, nobody);
}

Tid Player::owner(Slot slot, Clock clock) const {
  if (raw(slot) >= last_owner_.size()) return Tid{0};
  u32 at = last_owner_.at(raw(slot));
  while (at && owners_.at(at - 1).first > clock) at = owner_before_.at(at - 1);
  return static_cast<Tid>(at ? at - 1 : 0);
}

void Player::play(const Event& event) {
  Thread& t = thread(event.thread);
  if (DURESS_UNLIKELY(t.ended)) return;  // not a trace of ours
  if (event.is_sync) {
    sync(t, event.sync);
    FastTrack::after_sync(t.fasttrack);
  } else {
    play(event.thread, &event.access, 1);
  }
}

void Player::play(Tid tid, const Access* accesses, size_t count) {
  Thread& t = thread(tid);
  if (DURESS_UNLIKELY(t.ended)) return;  // not a trace of ours
  if (!only_fasttrack_) {
    for (size_t i = 0; i < count; ++i) access(t, accesses[i]);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (DURESS_UNLIKELY(!quickly(t, accesses[i]))) access(t, accesses[i]);
  }
}

void Player::access(Thread& t, const Access& access) {
  if (DURESS_UNLIKELY(is_atomic(access.kind)) && has_fasttrack_) {
    SyncObject* o = object(t, access.address, static_cast<u8>(access.size));
    fasttrack_.begin_atomic(t.fasttrack);
    fasttrack_.atomic_access(t.fasttrack, o, access.kind, access.place);
    fasttrack_.end_atomic(t.fasttrack);
    if (only_fasttrack_) return;
  }
  chain_.access(t.view, access);
}

void Player::atomic_sync(Thread& t, const Sync& sync) {
  auto size = static_cast<u8>(atomic_size(sync.detail));
  auto order = static_cast<MemoryOrder>(atomic_order(sync.detail));
  SyncObject* object = this->object(t, sync.object, size);
  if (sync.kind == SyncKind::kAtomicLoad) {
    t.clock.atomic_load(object->released, order);
    if (object->overlapped) {
      syncs_.each_overlapping(sync.object, size, [&](SyncObject* other) {
        if (other != object) t.clock.atomic_load(other->released, order);
      });
    }
    FastTrack::after_sync(t.fasttrack);
    return chain_.sync(t.view, sync);
  }
  chain_.sync(t.view, sync);
  if (sync.kind == SyncKind::kAtomicStore) {
    t.clock.atomic_store(object->released, order);
  } else {
    t.clock.atomic_rmw(object->released, order);
  }
  if (!object->overlapped) return;
  syncs_.each_overlapping(sync.object, size, [&](SyncObject* other) {
    if (other == object) return;
    bool covered = other->address >= sync.object && other->address + other->size <= sync.object + size;
    if (covered) {
      other->released.copy_from(arena_, object->released);
    } else {
      other->released.join(arena_, object->released);
    }
  });
}

void Player::sync(Thread& t, const Sync& sync) {
  auto object = [&] { return this->object(t, sync.object, 0); };
  bool shared = sync.kind == SyncKind::kReadLock || sync.kind == SyncKind::kReadUnlock;
  switch (sync.kind) {
    case SyncKind::kMutexLock:
    case SyncKind::kReadLock:
      t.clock.acquire(object()->released);
      if (!shared) t.clock.acquire(object()->readers);
      hold(t, {sync.object, shared});
      return chain_.sync(t.view, sync);
    case SyncKind::kMutexUnlock:
      chain_.sync(t.view, sync);
      t.clock.release_to(object()->released);
      object()->readers.clear(arena_);
      let_go(t, {sync.object, shared});
      return;
    case SyncKind::kReadUnlock:
      chain_.sync(t.view, sync);
      t.clock.release_join(object()->readers);
      let_go(t, {sync.object, shared});
      return;
    case SyncKind::kRelease:
      chain_.sync(t.view, sync);
      if (sync.detail) return t.clock.release_join(object()->released);
      return t.clock.release_to(object()->released);
    case SyncKind::kAcquire:
      t.clock.acquire(object()->released);
      break;
    case SyncKind::kForget:
      object()->released.clear(arena_);
      object()->readers.clear(arena_);
      break;
    case SyncKind::kAtomicLoad:
    case SyncKind::kAtomicStore:
    case SyncKind::kAtomicRmw:
      return atomic_sync(t, sync);
    case SyncKind::kFence:
      t.clock.fence(static_cast<MemoryOrder>(sync.detail));
      break;
    case SyncKind::kThreadCreate: {
      Tid id = static_cast<Tid>(sync.object);
      Thread* existing = raw(id) < threads_.size() ? threads_[raw(id)] : nullptr;
      Thread& child = existing ? *existing : make_thread(id, t.clock.clock());
      t.clock.release_to(child.start);
      break;
    }
    case SyncKind::kThreadStart:
      t.clock.acquire(t.start);
      break;
    case SyncKind::kThreadEnd:
      chain_.sync(t.view, sync);
      return end_thread(t);
    case SyncKind::kThreadJoin: {
      Thread& child = thread(static_cast<Tid>(sync.object));
      if (child.ended) {
        t.clock.acquire(child.end);
      } else {
        t.clock.acquire(child.clock.clock());  // a trace that tells no ends
      }
      break;
    }
    case SyncKind::kAlloc:
    case SyncKind::kMap:
      if (sync.detail) {
        fasttrack_.forget(t.fasttrack, sync.object, sync.object + sync.detail);
        chain_.fresh(sync.object, sync.object + sync.detail);
      }
      break;
    default:
      break;
  }
  FastTrack::after_sync(t.fasttrack);
  chain_.sync(t.view, sync);
}

void Player::end_thread(Thread& t) {
  if (t.ended) return;
  u32 count;
  const HeldLock* held = lock_sets_.locks(t.fasttrack.locks, &count);
  for (u32 i = 0; i < count; ++i) t.clock.release_join(syncs_.get(held[i].address, 0)->released);
  t.clock.release_to(t.end);
  t.ended = true;
  rules_.add(t.fasttrack.rules);
  fasttrack_.detach(t.fasttrack);
  slots_.give_back(t.clock.slot(), t.clock.own());
}

FastTrackRules Player::rules() const {
  FastTrackRules all = rules_;
  for (const Thread* t : threads_) {
    if (t && !t->ended) all.add(t->fasttrack.rules);
  }
  return all;
}

void Player::finish() {
  chain_.finish(lines_);
}

}  // namespace duress
