// SPDX-License-Identifier: Apache-2.0
//
// Fixes tried without being made: what an access does when the request says that it is atomic, that a lock is
// held at it, that a thread is joined before it, or that what is published before it is published after it.
// See trail/as_if.h.
//
// `++x` loads and stores at one place of the source. If it is atomic it is one update; if it is locked the
// lock is held from the load to the store.
#ifndef DURESS_RUNTIME_AS_IF_H_
#define DURESS_RUNTIME_AS_IF_H_

#include <pthread.h>

#include "clock/thread_clock.h"
#include "duress/hooks.h"
#include "sched/scheduler.h"
#include "trail/as_if.h"

namespace duress {

extern bool g_as_if;

/// What a site is taken for.
struct AsIfSite {
  const DuressSite* site;
  pthread_mutex_t* lock;  // null: none
  bool atomic;
  bool updates;    // a load whose store follows at the same place
  bool publishes;  // a store after which what was held back comes
  bool joins;      // a strand is joined before
};

void as_if_begin(const trail::Request& request, trail::Record& record);
const AsIfSite& as_if(const DuressSite* site);
/// The running strand comes to an access: joins whom it is to join first.
void as_if_join(const DuressSite* site);
/// It has really joined one, called from `caller`: tells if it was to join that one before.
void as_if_joined(const sched::Strand* joined, uptr caller);
/// It ends: what is joined is after all that it did.
void as_if_ended();
/// For that side of an operation.
MemoryOrder as_if_order(MemoryOrder load_store_or_update);

/// The orders of an atomic operation, if they are to be others; and tells of it if asked.
void as_if_orders(uptr caller, trail::AtomicKind kind, MemoryOrder* success, MemoryOrder* failure);

/// An atomic store that waits. The running strand has at most one; an earlier one is done first.
struct HeldBack {
  void* p;
  u64 value;
  u32 size;  // 0: none
  MemoryOrder order;
  const DuressSite* site;
};
HeldBack& held_back();
/// The running strand is about to do an atomic store, called from `caller`. True: it has to wait.
bool as_if_waits(uptr caller);
/// The running strand has set what should have been set before: tells which store came too early.
void as_if_set();
/// Does what the running strand holds back, if anything.
void publish_held_back();

}  // namespace duress

#endif  // DURESS_RUNTIME_AS_IF_H_
