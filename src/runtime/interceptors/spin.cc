// SPDX-License-Identifier: Apache-2.0
//
// Spin locks: unlock → next lock.
#include <pthread.h>

#include "runtime/control.h"
#include "runtime/interceptors/object.h"

using namespace duress;

DURESS_INTERCEPTOR(int, pthread_spin_init, (pthread_spinlock_t * lock, int shared)) {
  DURESS_OBJECT_CHANGED(lock);
  if (awake()) sync_forget(const_cast<int*>(lock));
  return DURESS_REAL(pthread_spin_init)(lock, shared);
}

DURESS_INTERCEPTOR(int, pthread_spin_destroy, (pthread_spinlock_t * lock)) {
  DURESS_OBJECT_CHANGED(lock);
  int result = DURESS_REAL(pthread_spin_destroy)(lock);
  if (awake() && result == 0) sync_forget(const_cast<int*>(lock));
  return result;
}

static int real_spin_trylock(pthread_spinlock_t* lock);

DURESS_INTERCEPTOR(int, pthread_spin_lock, (pthread_spinlock_t * lock)) {
  DURESS_LOCK_USED(lock);
  int result = controlled() ? control_lock(lock, /*reentrant=*/false, DURESS_CALLER_PC, sched::kNever,
                                           [=] { return real_spin_trylock(lock); })
                            : DURESS_REAL(pthread_spin_lock)(lock);
  if (awake() && result == 0) sync_locked(const_cast<int*>(lock), /*shared=*/false, DURESS_CALLER_PC);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_spin_trylock, (pthread_spinlock_t * lock)) {
  DURESS_LOCK_USED(lock);
  if (controlled()) control_point(OpKind::kTryLock, lock, DURESS_CALLER_PC);
  int result = DURESS_REAL(pthread_spin_trylock)(lock);
  if (controlled() && result == 0) scheduler().lock_taken(address_of(lock));
  if (awake() && result == 0) sync_locked(const_cast<int*>(lock), /*shared=*/false, DURESS_CALLER_PC);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_spin_unlock, (pthread_spinlock_t * lock)) {
  if (controlled()) control_point(OpKind::kUnlock, lock, DURESS_CALLER_PC);
  if (awake()) sync_unlocking(const_cast<int*>(lock), /*shared=*/false, DURESS_CALLER_PC);
  int result = DURESS_REAL(pthread_spin_unlock)(lock);
  if (controlled()) scheduler().lock_given(address_of(lock));
  return result;
}

static int real_spin_trylock(pthread_spinlock_t* lock) {
  return DURESS_REAL(pthread_spin_trylock)(lock);
}
