// SPDX-License-Identifier: Apache-2.0
//
// C11 mutexes and conditions. Inside the C library they are the POSIX ones, but called through its private
// names, so they have interceptors of their own. Threads are in thread.cc, call_once in once.cc;
// thread-specific storage (tss_*) orders nothing.
#include <threads.h>

#include "runtime/interceptors/condition.h"
#include "runtime/interceptors/object.h"
#include "runtime/misuse.h"
#include "runtime/object_errors.h"

using namespace duress;

static_assert(thrd_success == 0, "wait_on_condition takes 0 for a signal");

/// A C11 mutex is a POSIX one inside, and is treated as one in controlled mode; so is a condition.
static pthread_mutex_t* posix(mtx_t* mutex) {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}
static const pthread_cond_t* posix(const cnd_t* condition) {
  return reinterpret_cast<const pthread_cond_t*>(condition);
}

static int locked(int result, mtx_t* mutex, uptr pc) {
  if (awake() && result == thrd_success) sync_locked(mutex, /*shared=*/false, pc);
  if (controlled() && result == thrd_success) misuse_note_lock(mutex, pc);
  return result;
}

DURESS_INTERCEPTOR(int, mtx_init, (mtx_t * mutex, int type)) {
  DURESS_OBJECT_CHANGED(mutex);
  check_init(posix(mutex), DURESS_CALLER_PC);
  if (awake()) sync_forget(mutex);
  return DURESS_REAL(mtx_init)(mutex, type);
}

DURESS_INTERCEPTOR(void, mtx_destroy, (mtx_t * mutex)) {
  DURESS_OBJECT_CHANGED(mutex);
  check_destroy(posix(mutex), DURESS_CALLER_PC);
  DURESS_REAL(mtx_destroy)(mutex);
  if (awake()) sync_forget(mutex);
}

static int c11_result(int posix_result) {
  switch (posix_result) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ETIMEDOUT:
      return thrd_timedout;
    default:
      return thrd_error;
  }
}

static int lock_strand(mtx_t* mutex, uptr pc, u64 deadline = sched::kNever) {
  check_use(posix(mutex), pc);
  int result = lock_controlled(posix(mutex), pc, deadline, [=] {
    check_use(posix(mutex), pc);  // destroyed while this thread waited for its turn
    return real_mutex_trylock(posix(mutex));
  });
  return locked(c11_result(result), mutex, pc);
}

DURESS_INTERCEPTOR(int, mtx_lock, (mtx_t * mutex)) {
  DURESS_LOCK_USED(mutex);
  if (controlled()) return lock_strand(mutex, DURESS_CALLER_PC);
  return locked(DURESS_REAL(mtx_lock)(mutex), mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, mtx_trylock, (mtx_t * mutex)) {
  DURESS_LOCK_USED(mutex);
  if (controlled()) {
    check_use(posix(mutex), DURESS_CALLER_PC);
    int result =
        try_controlled(posix(mutex), DURESS_CALLER_PC, [=] { return real_mutex_trylock(posix(mutex)); });
    return locked(c11_result(result), mutex, DURESS_CALLER_PC);
  }
  return locked(DURESS_REAL(mtx_trylock)(mutex), mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, mtx_timedlock, (mtx_t * mutex, const timespec* until)) {
  DURESS_LOCK_USED(mutex);
  if (controlled() && valid_time(until)) {
    return lock_strand(mutex, DURESS_CALLER_PC, control_deadline(CLOCK_REALTIME, until));
  }
  return locked(DURESS_REAL(mtx_timedlock)(mutex, until), mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, mtx_unlock, (mtx_t * mutex)) {
  if (controlled()) control_point(OpKind::kUnlock, mutex, DURESS_CALLER_PC);
  check_use(posix(mutex), DURESS_CALLER_PC);
  bool refused = awake() && refuses_unlock(posix(mutex));
  if (!refused) misuse_at_unlock(posix(mutex));
  if (awake() && !refused) sync_unlocking(mutex, /*shared=*/false, DURESS_CALLER_PC);
  int result = DURESS_REAL(mtx_unlock)(mutex);
  if (controlled() && !refused) unlocked_controlled(mutex);
  return result;
}

DURESS_INTERCEPTOR(int, cnd_init, (cnd_t * condition)) {
  DURESS_OBJECT_CHANGED(condition);
  check_init(posix(condition), DURESS_CALLER_PC);
  if (awake()) sync_forget(condition);
  return DURESS_REAL(cnd_init)(condition);
}

DURESS_INTERCEPTOR(void, cnd_destroy, (cnd_t * condition)) {
  DURESS_OBJECT_CHANGED(condition);
  check_destroy(posix(condition), DURESS_CALLER_PC);
  DURESS_REAL(cnd_destroy)(condition);
  if (awake()) sync_forget(condition);
}

static int wait_strand(cnd_t* condition, mtx_t* mutex, uptr pc, u64 deadline) {
  return c11_result(wait_on_condition(condition, mutex, pc, [=] {
    return wait_controlled(
        condition, posix(mutex), pc, deadline,
        [=] {  // after its schedule point
          check_use(posix(condition), pc);
          check_use(posix(mutex), pc);
          return real_mutex_unlock(posix(mutex));
        },
        [=] { return real_mutex_trylock(posix(mutex)); });
  }));
}

DURESS_INTERCEPTOR(int, cnd_wait, (cnd_t * condition, mtx_t* mutex)) {
  DURESS_OBJECT_USED(condition);
  if (controlled()) return wait_strand(condition, mutex, DURESS_CALLER_PC, sched::kNever);
  return wait_on_condition(condition, mutex, DURESS_CALLER_PC,
                           [=] { return DURESS_REAL(cnd_wait)(condition, mutex); });
}

DURESS_INTERCEPTOR(int, cnd_timedwait, (cnd_t * condition, mtx_t* mutex, const timespec* until)) {
  DURESS_OBJECT_USED(condition);
  if (controlled() && valid_time(until)) {
    return wait_strand(condition, mutex, DURESS_CALLER_PC, control_deadline(CLOCK_REALTIME, until));
  }
  return wait_on_condition(condition, mutex, DURESS_CALLER_PC,
                           [=] { return DURESS_REAL(cnd_timedwait)(condition, mutex, until); });
}

DURESS_INTERCEPTOR(int, cnd_signal, (cnd_t * condition)) {
  DURESS_OBJECT_USED(condition);
  if (controlled()) control_point(OpKind::kSignal, condition, DURESS_CALLER_PC);
  check_use(posix(condition), DURESS_CALLER_PC);
  if (awake()) sync_release_join(condition, DURESS_CALLER_PC);
  if (controlled()) {
    signal_controlled(condition, 1);
    return thrd_success;
  }
  return DURESS_REAL(cnd_signal)(condition);
}

DURESS_INTERCEPTOR(int, cnd_broadcast, (cnd_t * condition)) {
  DURESS_OBJECT_USED(condition);
  if (controlled()) control_point(OpKind::kBroadcast, condition, DURESS_CALLER_PC);
  check_use(posix(condition), DURESS_CALLER_PC);
  if (awake()) sync_release_join(condition, DURESS_CALLER_PC);
  if (controlled()) {
    signal_controlled(condition, ~0u);
    return thrd_success;
  }
  return DURESS_REAL(cnd_broadcast)(condition);
}
