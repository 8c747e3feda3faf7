// SPDX-License-Identifier: Apache-2.0
//
// An access of a faithful body under what-if edits (what_if.h): as if its variable were atomic, guarded by a
// lock, or published.
#pragma once

#include <pthread.h>
#include <string.h>

#include "runtime/faithful_access.h"
#include "runtime/hooks_atomic.h"
#include "runtime/what_if.h"

namespace duress {

/// The place of an update whose load is done: its store belongs to it.
struct WhatIfUpdate {
  const void* p;
  u32 line;
  u16 column;
  bool is(const void* at, const DuressSite* site) const {
    return p == at && line == site->line && column == site->column;
  }
};
inline WhatIfUpdate g_what_if_update = {};

template <typename T>
bool load_what_if(const void* p, const DuressSite* site, T* value) {
  const WhatIfSite& edits = what_if(site);
  if (edits.joins) what_if_join(site);
  if (!edits.atomic && !edits.lock) return false;
  if (edits.atomic && !edits.updates) {
    *value = atomic_load<T>(p, edits.order_of(MemoryOrder::kAcquire), site);
    return true;
  }
  if (edits.atomic) {
    control_atomic(p, sizeof(T), OpKind::kAtomicRmw, site);
    AtomicOperation operation(p, sizeof(T), true, site);
    operation.modified(edits.order_of(MemoryOrder::kAcqRel));
  } else {
    pthread_mutex_lock(edits.lock);
    report_access(p, sizeof(T), AccessKind::kRead, site);
  }
  memcpy(value, p, sizeof *value);
  if (edits.updates) {
    g_what_if_update = {p, site->line, site->column};
  } else {
    pthread_mutex_unlock(edits.lock);
  }
  return true;
}

template <typename T>
bool store_what_if(void* p, T value, const DuressSite* site) {
  const WhatIfSite& edits = what_if(site);
  if (edits.joins) what_if_join(site);
  bool second = g_what_if_update.is(p, site) && (edits.atomic || edits.lock);
  if (second) g_what_if_update = {};
  if (edits.atomic) {
    if (second) {
      memcpy(p, &value, sizeof value);
    } else {
      atomic_store<T>(p, value, edits.order_of(MemoryOrder::kRelease), site);
    }
    return true;
  }
  if (edits.lock) {
    if (!second) pthread_mutex_lock(edits.lock);
    report_access(p, sizeof(T), AccessKind::kWrite, site);
    memcpy(p, &value, sizeof value);
    pthread_mutex_unlock(edits.lock);
    return true;
  }
  if (!edits.publishes) return false;
  report_access(p, sizeof(T), AccessKind::kWrite, site);
  memcpy(p, &value, sizeof value);
  what_if_published_early();
  publish_held_back();
  return true;
}

}  // namespace duress
