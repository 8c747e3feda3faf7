// SPDX-License-Identifier: Apache-2.0
//
// Events: what a thread of the target did. Analyses see these and nothing else, so that a trace file
// and a running program look the same to them.
#pragma once

#include "base/types.h"

namespace duress {

/// As DuressAccess (include/duress/hooks.h) up to kAtomicRmw. Its fence is not an access; free has no site.
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
  kAcquire,  // semaphore, barrier, once, pipe, annotations: a one-way edge through `object`
  kForget,   // a new object at this address: what was released through it is gone
  // An atomic operation comes in parts, so that the access lies between what it learns and what it leaves:
  // a load is kAtomicLoad, access; a store access, kAtomicStore; an update kAtomicLoad, access, kAtomicRmw.
  kAtomicLoad,
  kAtomicStore,
  kAtomicRmw,
  kFence,
  kThreadCreate,
  kThreadStart,
  kThreadEnd,
  kThreadJoin,
  kAlloc,
  kFree,        // after the access kFree, which is a write to all of it
  kMap,         // other memory with new contents: a stack, a mapping
  kBlockBegin,  // what follows is meant to be atomic; blocks nest
  kBlockEnd,
};
constexpr int kSyncKinds = static_cast<int>(SyncKind::kBlockEnd) + 1;

struct Sync {
  SyncKind kind;
  uptr object;       // the primitive; for kThread*: the other thread's Tid; kBlock*: names the block
  u64 detail;        // kAtomic*: atomic_detail(); kFence: the memory order; kAlloc, kFree, kMap: size;
                     // kRelease: 1 if it adds to what was released before, 0 if it replaces that
  Place place = {};  // of locks and blocks: where; the site is 0, the stack begins with the call
};

/// Size and memory order of an atomic operation in Sync::detail.
constexpr u64 atomic_detail(u64 order, u64 size) {
  return order | size << 8;
}
constexpr u64 atomic_order(u64 detail) {
  return detail & 0xff;
}
constexpr u64 atomic_size(u64 detail) {
  return detail >> 8;
}

}  // namespace duress
