// SPDX-License-Identifier: Apache-2.0
//
// POSIX mutexes: unlock → next lock. The runtime hears of a lock after it was taken and of an unlock before
// it is given, so the order of what it hears is an order in which the mutex really was held. Recursive
// mutexes are announced at every level.
#include "runtime/interceptors/mutex.h"

using namespace duress;

static int locked(int result, pthread_mutex_t* mutex, uptr pc) {
  if (is_locked(result)) sync_locked(mutex, /*shared=*/false, pc);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_mutex_init,
                   (pthread_mutex_t * mutex, const pthread_mutexattr_t* attributes)) {
  if (awake()) sync_forget(mutex);
  return DURESS_REAL(pthread_mutex_init)(mutex, attributes);
}

DURESS_INTERCEPTOR(int, pthread_mutex_destroy, (pthread_mutex_t * mutex)) {
  int result = DURESS_REAL(pthread_mutex_destroy)(mutex);
  if (awake() && result == 0) sync_forget(mutex);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_mutex_lock, (pthread_mutex_t * mutex)) {
  int result = DURESS_REAL(pthread_mutex_lock)(mutex);
  return DURESS_UNLIKELY(!awake()) ? result : locked(result, mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_mutex_trylock, (pthread_mutex_t * mutex)) {
  int result = DURESS_REAL(pthread_mutex_trylock)(mutex);
  return DURESS_UNLIKELY(!awake()) ? result : locked(result, mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until)) {
  int result = DURESS_REAL(pthread_mutex_timedlock)(mutex, until);
  return DURESS_UNLIKELY(!awake()) ? result : locked(result, mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_mutex_clocklock,
                   (pthread_mutex_t * mutex, clockid_t clock, const timespec* until)) {
  int result = DURESS_REAL(pthread_mutex_clocklock)(mutex, clock, until);
  return DURESS_UNLIKELY(!awake()) ? result : locked(result, mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_mutex_unlock, (pthread_mutex_t * mutex)) {
  if (DURESS_LIKELY(awake()) && !refuses_unlock(mutex)) {
    sync_unlocking(mutex, /*shared=*/false, DURESS_CALLER_PC);
  }
  return DURESS_REAL(pthread_mutex_unlock)(mutex);
}
