// SPDX-License-Identifier: Apache-2.0
//
// C11 mutexes and conditions. Inside the C library they are the POSIX ones, but called through its private
// names, so they have interceptors of their own. Threads are in thread.cc, call_once in once.cc;
// thread-specific storage (tss_*) orders nothing.
#include <threads.h>

#include "runtime/interceptors/condition.h"

using namespace duress;

static_assert(thrd_success == 0, "wait_on_condition takes 0 for a signal");

static int locked(int result, mtx_t* mutex, uptr pc) {
  if (awake() && result == thrd_success) sync_locked(mutex, /*shared=*/false, pc);
  return result;
}

DURESS_INTERCEPTOR(int, mtx_init, (mtx_t * mutex, int type)) {
  if (awake()) sync_forget(mutex);
  return DURESS_REAL(mtx_init)(mutex, type);
}

DURESS_INTERCEPTOR(void, mtx_destroy, (mtx_t * mutex)) {
  DURESS_REAL(mtx_destroy)(mutex);
  if (awake()) sync_forget(mutex);
}

DURESS_INTERCEPTOR(int, mtx_lock, (mtx_t * mutex)) {
  return locked(DURESS_REAL(mtx_lock)(mutex), mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, mtx_trylock, (mtx_t * mutex)) {
  return locked(DURESS_REAL(mtx_trylock)(mutex), mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, mtx_timedlock, (mtx_t * mutex, const timespec* until)) {
  return locked(DURESS_REAL(mtx_timedlock)(mutex, until), mutex, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, mtx_unlock, (mtx_t * mutex)) {
  if (awake() && !refuses_unlock(reinterpret_cast<pthread_mutex_t*>(mutex))) {
    sync_unlocking(mutex, /*shared=*/false, DURESS_CALLER_PC);
  }
  return DURESS_REAL(mtx_unlock)(mutex);
}

DURESS_INTERCEPTOR(int, cnd_init, (cnd_t * condition)) {
  if (awake()) sync_forget(condition);
  return DURESS_REAL(cnd_init)(condition);
}

DURESS_INTERCEPTOR(void, cnd_destroy, (cnd_t * condition)) {
  DURESS_REAL(cnd_destroy)(condition);
  if (awake()) sync_forget(condition);
}

DURESS_INTERCEPTOR(int, cnd_wait, (cnd_t * condition, mtx_t* mutex)) {
  return wait_on_condition(condition, mutex, DURESS_CALLER_PC,
                           [=] { return DURESS_REAL(cnd_wait)(condition, mutex); });
}

DURESS_INTERCEPTOR(int, cnd_timedwait, (cnd_t * condition, mtx_t* mutex, const timespec* until)) {
  return wait_on_condition(condition, mutex, DURESS_CALLER_PC,
                           [=] { return DURESS_REAL(cnd_timedwait)(condition, mutex, until); });
}

DURESS_INTERCEPTOR(int, cnd_signal, (cnd_t * condition)) {
  if (awake()) sync_release_join(condition, DURESS_CALLER_PC);
  return DURESS_REAL(cnd_signal)(condition);
}

DURESS_INTERCEPTOR(int, cnd_broadcast, (cnd_t * condition)) {
  if (awake()) sync_release_join(condition, DURESS_CALLER_PC);
  return DURESS_REAL(cnd_broadcast)(condition);
}
