// SPDX-License-Identifier: Apache-2.0
//
// A mutex, a condition, a barrier, a semaphore is an object too: to make or destroy it while another thread
// uses it is a race on it. To the analyses a use is a read of its first byte, making and destroying are
// writes. A use is told before what it waits for or acquires, a signal or a post before what it releases: so
// a thread that destroys a lock after it took it last is ordered after all earlier uses.
//
// Not in a child that a process with threads has forked: it has its own copies of what their threads used,
// and handlers of pthread_atfork make these anew.
//
// Only for instrumented callers: how others make an object known to their threads may not be seen. Locks that
// were never made or destroyed by a call (std::mutex, static initialisers) are left out: the read is half of
// the cost of a lock and an unlock, 120 ns of 285.
#pragma once

#include "runtime/interceptors/library_imports.h"
#include "runtime/interceptors/real.h"

namespace duress {

/// The objects that some thread has made or destroyed; some others look as if they were among them.
class MadeObjects {
 public:
  void add(const volatile void* object) { word(object).fetch_or(bit(object), std::memory_order_relaxed); }
  bool has(const volatile void* object) const {
    return (const_cast<MadeObjects*>(this)->word(object).load(std::memory_order_relaxed) & bit(object)) != 0;
  }

 private:
  static constexpr u32 kWords = 2048;
  static u64 hash(const volatile void* object) {
    return (reinterpret_cast<u64>(object) >> 2) * 0x9e3779b97f4a7c15;
  }
  std::atomic<u64>& word(const volatile void* object) { return words_[hash(object) >> 53]; }
  static u64 bit(const volatile void* object) { return u64{1} << (hash(object) >> 47 & 63); }

  std::atomic<u64> words_[kWords] = {};
};
inline constinit MadeObjects g_made_objects;

/// False: uses and ends are not compared.
extern bool g_objects_compared;
/// In a forked child.
void objects_after_fork();

void touch_object(const volatile void* object, bool write, uptr pc, uptr frame);

#define DURESS_OBJECT_USED(object) \
  if (::duress::awake()) ::duress::touch_object(object, false, DURESS_CALLER_PC, DURESS_CALLER_FRAME)
#define DURESS_LOCK_USED(lock)                               \
  if (DURESS_UNLIKELY(::duress::g_made_objects.has(lock))) { \
    DURESS_OBJECT_USED(lock);                                \
  }
#define DURESS_OBJECT_CHANGED(object) \
  if (::duress::awake()) ::duress::touch_object(object, true, DURESS_CALLER_PC, DURESS_CALLER_FRAME)

}  // namespace duress
