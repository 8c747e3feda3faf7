// SPDX-License-Identifier: Apache-2.0
//
// POSIX mutexes: unlock → next lock. The runtime hears of a lock after it was taken and of an unlock before
// it is given, so the order of what it hears is an order in which the mutex really was held. Recursive
// mutexes are announced at every level.
#include "runtime/interceptors/mutex.h"

#include "runtime/gone_frames.h"
#include "runtime/interceptors/object.h"
#include "runtime/misuse.h"
#include "runtime/object_errors.h"

using namespace duress;

static int locked(int result, pthread_mutex_t* mutex, uptr pc) {
  if (is_locked(result)) {
    sync_locked(mutex, /*shared=*/false, pc);
    if (controlled()) misuse_note_lock(mutex, pc);
  }
  return result;
}

DURESS_INTERCEPTOR(int, pthread_mutex_init,
                   (pthread_mutex_t * mutex, const pthread_mutexattr_t* attributes)) {
  DURESS_OBJECT_CHANGED(mutex);
  check_init(mutex, DURESS_CALLER_PC);
  if (awake()) sync_forget(mutex);
  return DURESS_REAL(pthread_mutex_init)(mutex, attributes);
}

DURESS_INTERCEPTOR(int, pthread_mutex_destroy, (pthread_mutex_t * mutex)) {
  DURESS_OBJECT_CHANGED(mutex);
  check_destroy(mutex, DURESS_CALLER_PC);
  int result = DURESS_REAL(pthread_mutex_destroy)(mutex);
  if (awake() && result == 0) sync_forget(mutex);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_mutex_trylock, (pthread_mutex_t * mutex)) {
  DURESS_LOCK_USED(mutex);
  check_use(mutex, DURESS_CALLER_PC);
  int result = controlled() ? try_controlled(mutex, DURESS_CALLER_PC,
                                             [=] { return DURESS_REAL(pthread_mutex_trylock)(mutex); })
                            : DURESS_REAL(pthread_mutex_trylock)(mutex);
  return DURESS_UNLIKELY(!awake()) ? result : locked(result, mutex, DURESS_CALLER_PC);
}

/// The lock of a strand. The obvious real call could wait, and with it everybody.
static int lock_strand(pthread_mutex_t* mutex, uptr pc, u64 deadline = sched::kNever) {
  check_use(mutex, pc);
  return locked(lock_controlled(mutex, pc, deadline,
                                [=] {
                                  check_use(mutex, pc);  // destroyed while this thread waited for its turn
                                  return DURESS_REAL(pthread_mutex_trylock)(mutex);
                                }),
                mutex, pc);
}

DURESS_INTERCEPTOR(int, pthread_mutex_lock, (pthread_mutex_t * mutex)) {
  DURESS_LOCK_USED(mutex);
  if (controlled()) {
    CallerFrame caller(DURESS_CALLER_FRAME);
    return lock_strand(mutex, DURESS_CALLER_PC);
  }
  int result = DURESS_REAL(pthread_mutex_lock)(mutex);
  return DURESS_UNLIKELY(!awake()) ? result : locked(result, mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until)) {
  DURESS_LOCK_USED(mutex);
  if (controlled() && valid_time(until)) {
    return lock_strand(mutex, DURESS_CALLER_PC, control_deadline(CLOCK_REALTIME, until));
  }
  int result = DURESS_REAL(pthread_mutex_timedlock)(mutex, until);
  return DURESS_UNLIKELY(!awake()) ? result : locked(result, mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_mutex_clocklock,
                   (pthread_mutex_t * mutex, clockid_t clock, const timespec* until)) {
  DURESS_LOCK_USED(mutex);
  if (controlled() && valid_time(until)) {
    return lock_strand(mutex, DURESS_CALLER_PC, control_deadline(clock, until));
  }
  int result = DURESS_REAL(pthread_mutex_clocklock)(mutex, clock, until);
  return DURESS_UNLIKELY(!awake()) ? result : locked(result, mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_mutex_unlock, (pthread_mutex_t * mutex)) {
  if (controlled()) control_point(OpKind::kUnlock, mutex, DURESS_CALLER_PC);
  check_use(mutex, DURESS_CALLER_PC);
  bool refused = DURESS_LIKELY(awake()) && refuses_unlock(mutex);
  if (!refused) misuse_at_unlock(mutex);
  if (DURESS_LIKELY(awake()) && !refused) sync_unlocking(mutex, /*shared=*/false, DURESS_CALLER_PC);
  int result = DURESS_REAL(pthread_mutex_unlock)(mutex);
  if (controlled() && !refused) unlocked_controlled(mutex);
  return result;
}

namespace duress {
int real_mutex_trylock(pthread_mutex_t* mutex) {
  return DURESS_REAL(pthread_mutex_trylock)(mutex);
}
int real_mutex_unlock(pthread_mutex_t* mutex) {
  return DURESS_REAL(pthread_mutex_unlock)(mutex);
}
}  // namespace duress
