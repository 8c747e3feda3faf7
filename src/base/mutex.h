// SPDX-License-Identifier: Apache-2.0
//
// The host's mutex, known to clang's thread safety analysis (-Wthread-safety): what a lock guards is written
// at the member, and an access without the lock does not compile. std::mutex of libstdc++ has no annotations.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define DURESS_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define DURESS_THREAD_SAFETY(attribute)
#endif
#define DURESS_GUARDED_BY(mutex) DURESS_THREAD_SAFETY(guarded_by(mutex))
#define DURESS_REQUIRES(mutex) DURESS_THREAD_SAFETY(requires_capability(mutex))

namespace duress {

class DURESS_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  void lock() DURESS_THREAD_SAFETY(acquire_capability()) { mutex_.lock(); }
  void unlock() DURESS_THREAD_SAFETY(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds the mutex for its life, except between unlock() and lock().
class DURESS_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) DURESS_THREAD_SAFETY(acquire_capability(mutex)) : lock_(mutex) {}
  ~MutexLock() DURESS_THREAD_SAFETY(release_capability()) {}
  void lock() DURESS_THREAD_SAFETY(acquire_capability()) { lock_.lock(); }
  void unlock() DURESS_THREAD_SAFETY(release_capability()) { lock_.unlock(); }

 private:
  std::unique_lock<Mutex> lock_;
};

/// Waits on a MutexLock. Predicates read guarded members, so waits are written as loops.
using Condition = std::condition_variable_any;

}  // namespace duress
