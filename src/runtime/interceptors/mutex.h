// SPDX-License-Identifier: Apache-2.0
//
// What POSIX and C11 mutexes share. A C11 mutex is a POSIX mutex inside the C library.
#ifndef DURESS_RUNTIME_INTERCEPTORS_MUTEX_H_
#define DURESS_RUNTIME_INTERCEPTORS_MUTEX_H_

#include <errno.h>
#include <pthread.h>

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

}  // namespace duress

#endif  // DURESS_RUNTIME_INTERCEPTORS_MUTEX_H_
