// SPDX-License-Identifier: Apache-2.0
//
// What POSIX and C11 mutexes share. A C11 mutex is a POSIX mutex inside the C library.
#pragma once

#include <errno.h>
#include <pthread.h>

#include "runtime/control.h"
#include "runtime/interceptors/real.h"

namespace duress {

/// A robust mutex whose owner died is locked all the same.
inline bool is_locked(int result) {
  return result == 0 || result == EOWNERDEAD;
}

/// Whether the C library will refuse to unlock because the caller does not own the mutex. Such an unlock
/// orders nothing. For plain mutexes it does not look, and neither do we: the unlock takes place.
inline bool refuses_unlock(const pthread_mutex_t* mutex) {
  constexpr int kTypeMask = 3, kRobust = 16, kInherit = 32, kProtect = 64;  // bits of __kind
  constexpr int kThreadMask = 0x3fffffff;  // of a lock word that names its owner
  const auto& data = mutex->__data;
  int kind = data.__kind;
  if (kind & (kRobust | kInherit)) return (data.__lock & kThreadMask) != own_thread_number();
  int type = kind & kTypeMask;
  bool checks = type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK || (kind & kProtect);
  return checks && data.__owner != own_thread_number();
}

inline bool is_recursive(const pthread_mutex_t* mutex) {
  return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE;
}

/// A lock in controlled mode; `attempt` is the real try. The caller of an error-checking mutex may own it.
template <typename Attempt>
int lock_controlled(pthread_mutex_t* mutex, uptr pc, u64 deadline, Attempt attempt) {
  bool checks = (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK;
  if (checks && mutex->__data.__owner == own_thread_number()) return EDEADLK;
  return control_lock(mutex, is_recursive(mutex), pc, deadline, attempt);
}

/// A try, and an unlock.
template <typename Attempt>
int try_controlled(pthread_mutex_t* mutex, uptr pc, Attempt attempt) {
  control_point(OpKind::kTryLock, mutex, pc);
  int result = attempt();
  if (is_locked(result)) scheduler().lock_taken(address_of(mutex));
  return result;
}

inline void unlocked_controlled(const volatile void* mutex) {
  scheduler().lock_given(address_of(mutex));
}

}  // namespace duress
