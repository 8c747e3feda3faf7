// SPDX-License-Identifier: Apache-2.0
//
// What a strand is about to do at a schedule point. Strategies and the race-directed search decide by it.
#pragma once

#include "base/types.h"

namespace duress {

/// DURESS_OPERATION(name, word): `word` is what a trace prints and a log carries.
#define DURESS_OPERATIONS(DURESS_OPERATION)       \
  DURESS_OPERATION(kStart, "start")               \
  DURESS_OPERATION(kEnd, "end")                   \
  DURESS_OPERATION(kRead, "read")                 \
  DURESS_OPERATION(kWrite, "write")               \
  DURESS_OPERATION(kAtomicRead, "atomic read")    \
  DURESS_OPERATION(kAtomicWrite, "atomic write")  \
  DURESS_OPERATION(kAtomicRmw, "atomic update")   \
  DURESS_OPERATION(kFence, "fence")               \
  DURESS_OPERATION(kLock, "lock")                 \
  DURESS_OPERATION(kTryLock, "try lock")          \
  DURESS_OPERATION(kUnlock, "unlock")             \
  DURESS_OPERATION(kReadLock, "read lock")        \
  DURESS_OPERATION(kTryReadLock, "try read lock") \
  DURESS_OPERATION(kWait, "wait")                 \
  DURESS_OPERATION(kSignal, "signal")             \
  DURESS_OPERATION(kBroadcast, "broadcast")       \
  DURESS_OPERATION(kBarrier, "barrier")           \
  DURESS_OPERATION(kAcquire, "acquire")           \
  DURESS_OPERATION(kTryAcquire, "try acquire")    \
  DURESS_OPERATION(kPost, "post")                 \
  DURESS_OPERATION(kOnce, "once")                 \
  DURESS_OPERATION(kCreate, "create")             \
  DURESS_OPERATION(kJoin, "join")                 \
  DURESS_OPERATION(kYield, "yield")               \
  DURESS_OPERATION(kSleep, "sleep")               \
  DURESS_OPERATION(kFutexWait, "futex wait")      \
  DURESS_OPERATION(kFutexWake, "futex wake")      \
  DURESS_OPERATION(kSystem, "system call")        \
  DURESS_OPERATION(kChoose, "choose")             \
  DURESS_OPERATION(kSpurious, "spurious wake-up") \
  DURESS_OPERATION(kTimeout, "timeout")           \
  DURESS_OPERATION(kFree, "free")                 \
  DURESS_OPERATION(kExit, "exit")                 \
  DURESS_OPERATION(kCreated, "created")

enum class OpKind : u8 {
#define DURESS_OPERATION(name, word) name,
  DURESS_OPERATIONS(DURESS_OPERATION)
#undef DURESS_OPERATION
};

constexpr const char* word_of(OpKind kind) {
  constexpr const char* kWords[] = {
#define DURESS_OPERATION(name, word) word,
      DURESS_OPERATIONS(DURESS_OPERATION)
#undef DURESS_OPERATION
  };
  return kWords[raw(kind)];
}

/// Reads or writes memory that a site names (plain or atomic).
constexpr bool is_access(OpKind k) {
  return k >= OpKind::kRead && k <= OpKind::kAtomicRmw;
}
constexpr bool writes(OpKind k) {
  return k == OpKind::kWrite || k == OpKind::kAtomicWrite || k == OpKind::kAtomicRmw;
}

struct Operation {
  OpKind kind = OpKind::kStart;
  u32 size = 0;     // bytes, of accesses and kFree
  uptr object = 0;  // address of the memory or the primitive; of kJoin and kCreate: the other strand's number
  u32 site = 0;     // the site's key (trail/site_key.h) if it is one that a request names; else 0
  uptr place = 0;   // of accesses: the DuressSite; else where the program called from
  u32 line = 0;     // of accesses: line and column, which are the same in every body of a function
  u32 compares = 0;  // 1: a compare-and-swap; 2: an exchange
  u64 detail = 0;    // of a compare-and-swap and of a futex: the value it expects; of an exchange: the one it
                     // writes; of a wait: the mutex
};

/// Two operations whose order can matter: both touch the same object, and not both only read it. To free a
/// block is to write all of it.
constexpr bool conflict(const Operation& a, const Operation& b) {
  const bool frees = a.kind == OpKind::kFree || b.kind == OpKind::kFree;
  if ((is_access(a.kind) || a.kind == OpKind::kFree) != (is_access(b.kind) || b.kind == OpKind::kFree))
    return false;
  if (is_access(a.kind) || frees) {
    return (writes(a.kind) || writes(b.kind) || frees) && a.object < b.object + b.size &&
           b.object < a.object + a.size;
  }
  return a.object != 0 && a.object == b.object;
}

}  // namespace duress
