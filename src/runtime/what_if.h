// SPDX-License-Identifier: Apache-2.0
//
// Carries out what-if edits (trail/what_if.h): hooks and interceptors ask here what an access does when the
// request says that it is atomic, that a lock is held at it, that a thread is joined before it, that the
// store which publishes it comes after it, or that an atomic operation has another memory order.
//
// `++x` is a load and a store at one place of the source. If it is made atomic it is one update; if it is
// locked, the lock is held from the load to the store.
#pragma once

#include <pthread.h>

#include "clock/thread_clock.h"
#include "duress/hooks.h"
#include "sched/scheduler.h"
#include "trail/what_if.h"

namespace duress {

extern bool g_what_if;  // false: the request has no edits, and none of the functions below is called

/// The edits of one plain access.
struct WhatIfSite {
  const DuressSite* site;
  pthread_mutex_t* lock;  // held at the access; null: none
  bool atomic;
  MemoryOrder order;  // if atomic
  bool updates;       // a load whose store follows at the same place
  bool publishes;     // the held-back store is done after it
  bool joins;         // a strand is joined before it

  /// The order of one side of an atomic access: an acquire-release edit makes a load acquire and a store
  /// release.
  MemoryOrder order_of(MemoryOrder side) const { return order == MemoryOrder::kAcqRel ? side : order; }
};

void what_if_begin(const trail::Request& request, trail::Record& record);
const WhatIfSite& what_if(const DuressSite* site);
/// Before an access of the running strand: joins the strands that edits name.
void what_if_join(const DuressSite* site);
/// The running strand has really joined `joined`, in a call that returns to `caller`: a side event if an edit
/// has it join that strand earlier.
void what_if_joined(const sched::Strand* joined, uptr caller);
/// The running strand ends: keeps its clock for what_if_join().
void what_if_ended();

/// Before an atomic operation: replaces its orders if an edit says so; lists it if the request asks for a
/// profile.
void what_if_orders(uptr caller, trail::AtomicKind kind, MemoryOrder* success, MemoryOrder* failure);

/// An atomic store that waits for the access after which an edit moves it. A strand has at most one; an
/// earlier one is done first.
struct HeldBackStore {
  void* p;
  u64 value;
  u32 size;  // 0: none
  MemoryOrder order;
  const DuressSite* site;
};
/// Of the running strand.
HeldBackStore& held_back_store();
/// The running strand is about to do an atomic store, in a call that returns to `caller`. True: the store has
/// to be held back.
bool what_if_holds_back(uptr caller);
/// The running strand has done an access that should have come before a publishing store: records which store
/// came too early.
void what_if_published_early();
/// Does the held-back store of the running strand, if there is one.
void publish_held_back();

}  // namespace duress
