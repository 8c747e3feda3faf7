// SPDX-License-Identifier: Apache-2.0
#include "analysis/player.h"

#include "analysis/fasttrack/hot_path.h"

namespace duress {

struct Player::Thread : SyncThread {
  using SyncThread::SyncThread;
  bool ended = false;
};

/// The way of nearly every access when FastTrack is alone. False: it is not done.
__attribute__((always_inline)) inline bool Player::quickly(Thread& t, const Access& a) {
  if (a.size > 8 || (a.address & 7) + a.size > 8 || a.kind > AccessKind::kWrite) return false;
  if (!EpochFilter::is_open(*t.fasttrack.self)) fasttrack_.open_epoch(t.fasttrack);
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
      context_{arena, findings, lines, lock_sets_, &fasttrack_} {
  engine_.set_single_threaded();
}

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
  has_inline_path_ = good && chain_.has_inline_path();
  is_inline_ = good && chain_.is_inline();
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
  t->fasttrack.every_access = true;  // a trace has what it has
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
  } else {
    play(event.thread, &event.access, 1);
  }
}

void Player::play(Tid tid, const Access* accesses, size_t count) {
  Thread& t = thread(tid);
  if (DURESS_UNLIKELY(t.ended)) return;  // not a trace of ours
  if (!is_inline_) {
    for (size_t i = 0; i < count; ++i) access(t, accesses[i]);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (DURESS_UNLIKELY(!quickly(t, accesses[i]))) access(t, accesses[i]);
  }
}

void Player::access(Thread& t, const Access& access) {
  if (DURESS_UNLIKELY(is_atomic(access.kind)) && has_inline_path_) {
    SyncObject* o = engine_.atomic(t, access.address, static_cast<u8>(access.size))->object;
    fasttrack_.begin_atomic(t.fasttrack);
    fasttrack_.atomic_access(t.fasttrack, o, access.kind, access.place);
    fasttrack_.end_atomic(t.fasttrack);
    if (is_inline_) return;
  }
  chain_.access(t.view, access);
}

void Player::atomic_sync(Thread& t, const Sync& sync) {
  auto order = static_cast<MemoryOrder>(atomic_order(sync.detail));
  SyncObject& object = *engine_.atomic(t, sync.object, static_cast<u8>(atomic_size(sync.detail)))->object;
  if (sync.kind == SyncKind::kAtomicLoad) {
    engine_.atomic_load(t, object, order, object.overlapped);
    engine_.notify_chain(t, sync);
  } else {
    engine_.notify_chain(t, sync);
    if (sync.kind == SyncKind::kAtomicStore) {
      engine_.atomic_store(t, object, order, object.overlapped);
    } else {
      engine_.atomic_rmw(t, object, order, object.overlapped);
    }
  }
  FastTrack::after_sync(t.fasttrack);
}

void Player::sync(Thread& t, const Sync& sync) {
  switch (sync.kind) {
    case SyncKind::kAtomicLoad:
    case SyncKind::kAtomicStore:
    case SyncKind::kAtomicRmw:
      return atomic_sync(t, sync);
    case SyncKind::kThreadCreate: {
      Tid id = static_cast<Tid>(sync.object);
      Thread* existing = raw(id) < threads_.size() ? threads_[raw(id)] : nullptr;
      Thread& child = existing ? *existing : make_thread(id, t.clock.clock());
      return engine_.thread_created(t, child, sync);
    }
    case SyncKind::kThreadStart:
      return engine_.thread_started(t, sync);
    case SyncKind::kThreadEnd:
      return end_thread(t, sync);
    case SyncKind::kThreadJoin: {
      Thread& child = thread(static_cast<Tid>(sync.object));
      if (!child.ended) t.clock.acquire(child.clock.clock());  // a trace without the ends of threads
      return engine_.thread_joined(t, child, sync);
    }
    case SyncKind::kAlloc:
    case SyncKind::kMap:
      if (sync.detail) engine_.fresh(t, sync.object, sync.object + sync.detail);
      return engine_.apply(t, sync);
    default:
      return engine_.apply(t, sync);
  }
}

void Player::end_thread(Thread& t, const Sync& sync) {
  engine_.thread_ended(t, sync);
  t.ended = true;
  fasttrack_.detach(t.fasttrack);
  slots_.give_back(t.clock.slot(), t.clock.own());
}

void Player::finish() {
  chain_.finish(lines_);
}

}  // namespace duress
