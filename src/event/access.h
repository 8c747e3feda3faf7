// SPDX-License-Identifier: Apache-2.0
//
// Events: what a thread of the target did. Analyses see these and nothing else, so that a trace file
// and a running program look the same to them.
#ifndef DURESS_EVENT_ACCESS_H_
#define DURESS_EVENT_ACCESS_H_

#include "base/types.h"

namespace duress {

/// The numbers of DuressAccess (include/duress/hooks.h), and what library functions do.
enum class AccessKind : u8 {
  kRead = 0,
  kWrite = 1,
  kAtomicRead = 2,
  kAtomicWrite = 3,
  kAtomicRmw = 4,
  kFree = 5,
};

constexpr bool is_write(AccessKind k) {
  return k != AccessKind::kRead && k != AccessKind::kAtomicRead;
}
constexpr bool is_atomic(AccessKind k) {
  return k == AccessKind::kAtomicRead || k == AccessKind::kAtomicWrite || k == AccessKind::kAtomicRmw;
}

/// Where the program was: the site in the code and the calls that led there.
struct Place {
  SiteId site;
  StackId stack;
};

struct Access {
  uptr address;
  u32 size;
  AccessKind kind;
  Place place;
};

/// Which kind of synchronisation an event is; object is the primitive's address.
enum class SyncKind : u8 {
  kMutexLock,
  kMutexUnlock,
  kReadLock,
  kReadUnlock,
  kRelease,
  kAcquire,  // semaphore, once, pipe, annotations: a one-way edge through `object`
  kBarrier,
  kAtomicLoad,
  kAtomicStore,
  kAtomicRmw,
  kFence,
  kThreadCreate,
  kThreadStart,
  kThreadEnd,
  kThreadJoin,
  kAlloc,
  kFree,
};

struct Sync {
  SyncKind kind;
  uptr object;  // the primitive; for kThread*: the other thread's Tid
  u64 detail;   // kAtomic*, kFence: the memory order; kAlloc, kFree: size
};

}  // namespace duress

#endif  // DURESS_EVENT_ACCESS_H_
