// SPDX-License-Identifier: Apache-2.0
//
// How synchronisation moves vector clocks: locks, releases and acquires, atomics, fences, threads. The
// runtime applies the events of a running program, the player those of a trace; both use this one engine, so
// an analysis finds the same in either (tests/traces/equal.py).
//
// The order within an event: what is acquired is acquired before the chain sees the event, what is released
// is released after it.
#pragma once

#include "analysis/chain.h"
#include "analysis/fasttrack/fasttrack.h"
#include "clock/lock_set.h"
#include "clock/sync_table.h"
#include "clock/thread_clock.h"

namespace duress {

/// A thread as synchronisation and analyses know it.
/// Threads: its own thread; `start` and `end` also at creation and join, when the thread does not run.
struct SyncThread {
  SyncThread(Arena& arena, Tid id, Slot slot, Clock first)
      : clock(arena, slot, first),
        fasttrack(clock, &idle_self),
        view{id, &clock, &fasttrack, &fasttrack.locks} {}

  DuressSelf idle_self = {};  // stands for __duress_self until the thread runs, and offline
  ThreadClock clock;
  ReleaseClock start;         // by the creator; read when the thread starts
  ReleaseClock end;           // by the thread at its end; read by join
  FastTrackThread fasttrack;  // with its large tables at its end
  AnalysisThread view;
  SyncTable::Cache syncs;

  /// The locks that this thread took last: "this set and that lock" without the table and its lock.
  struct LockAdded {
    LockSetId before, after;
    HeldLock lock;
  };
  LockAdded added[128] = {};
  LockAdded& lock_added(uptr lock) { return added[lock * 0x9e3779b97f4a7c15u >> 57]; }
};

/// Threads: any; a SyncObject is locked while its clocks are read or written.
class SyncEngine {
 public:
  struct Parts {
    Arena& arena;
    SyncTable& syncs;
    LockSets& lock_sets;
    FastTrack& fasttrack;
    Chain& chain;
  };
  explicit SyncEngine(const Parts& parts) : parts_(parts) {}

  /// No analysis of the chain uses synchronisation events: they are not passed to it.
  void set_silent(bool silent) { silent_ = silent; }
  /// One system thread applies the events of all threads (offline), so no object is locked.
  void set_single_threaded() { locking_ = false; }

  /// Applies an event that involves neither an atomic nor another thread; for those see below.
  void apply(SyncThread& t, const Sync& sync);

  // Threads. `sync` is what the chain sees.
  void thread_created(SyncThread& parent, SyncThread& child, const Sync& sync);
  void thread_started(SyncThread& t, const Sync& sync);
  void thread_ended(SyncThread& t, const Sync& sync);
  void thread_joined(SyncThread& t, SyncThread& child, const Sync& sync);

  // Atomics: their clocks only, because the chain sees the access between the load and the store of an
  // operation. REQUIRES: the object is locked; if `overlapped`, operations on all overlapping ones are kept
  // out.
  SyncTable::Cache::Entry* atomic(SyncThread& t, uptr address, u8 size);
  void atomic_load(SyncThread& t, SyncObject& object, MemoryOrder order, bool overlapped);
  void atomic_store(SyncThread& t, SyncObject& object, MemoryOrder order, bool overlapped);
  void atomic_rmw(SyncThread& t, SyncObject& object, MemoryOrder order, bool overlapped);

  /// New memory: what was known of its bytes, and what synchronised there, is forgotten.
  void fresh(SyncThread& t, uptr begin, uptr end);

  /// The chain sees the event; no clock changes.
  void notify_chain(SyncThread& t, const Sync& sync) {
    if (!silent_) parts_.chain.sync(t.view, sync);
  }

 private:
  class ObjectGuard;
  class Acquiring;

  SyncObject* object(SyncThread& t, uptr address);
  void lock(SyncThread& t, uptr address, bool shared);
  void unlock(SyncThread& t, uptr address, bool shared);
  void forget(SyncThread& t, const Sync& sync);
  void store_to_overlapping(SyncObject& object);

  Parts parts_;
  bool silent_ = false;
  bool locking_ = true;
};

}  // namespace duress
