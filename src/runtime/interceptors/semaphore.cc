// SPDX-License-Identifier: Apache-2.0
//
// Semaphores: post → the wait it releases. The count is one atomic number that posts and waits change in
// turn, so a wait is ordered after every post before it: a post adds to what is released. sem_getvalue orders
// nothing: POSIX does not list it, and it is a relaxed load. sem_post is used in signal handlers.
#include <errno.h>
#include <semaphore.h>

#include "runtime/control.h"
#include "runtime/interceptors/object.h"
#include "runtime/object_errors.h"

using namespace duress;

static int waited(int result, sem_t* semaphore, uptr pc) {
  if (awake() && result == 0) sync_acquire(semaphore, pc);
  return result;
}

DURESS_INTERCEPTOR(int, sem_init, (sem_t * semaphore, int shared, unsigned value)) {
  DURESS_OBJECT_CHANGED(semaphore);
  check_init(semaphore, DURESS_CALLER_PC);
  if (awake()) sync_forget(semaphore);
  return DURESS_REAL(sem_init)(semaphore, shared, value);
}

DURESS_INTERCEPTOR(int, sem_destroy, (sem_t * semaphore)) {
  DURESS_OBJECT_CHANGED(semaphore);
  check_destroy(semaphore, DURESS_CALLER_PC);
  int result = DURESS_REAL(sem_destroy)(semaphore);
  if (awake() && result == 0) sync_forget(semaphore);
  return result;
}

DURESS_INTERCEPTOR(int, sem_trywait, (sem_t * semaphore)) {
  DURESS_OBJECT_USED(semaphore);
  if (controlled()) control_point(OpKind::kTryAcquire, semaphore, DURESS_CALLER_PC);
  check_use(semaphore, DURESS_CALLER_PC);
  return waited(DURESS_REAL(sem_trywait)(semaphore), semaphore, DURESS_CALLER_PC);
}

static int wait_strand(sem_t* semaphore, uptr pc, u64 deadline = sched::kNever) {
  int saved = errno;
  check_use(semaphore, pc);
  int error = control_acquire(OpKind::kAcquire, semaphore, pc, deadline, [=] {
    check_use(semaphore, pc);  // destroyed while this thread waited for its turn
    return DURESS_REAL(sem_trywait)(semaphore) == 0 ? 0 : errno;
  });
  errno = error ? error : saved;
  return waited(error ? -1 : 0, semaphore, pc);
}

DURESS_INTERCEPTOR(int, sem_wait, (sem_t * semaphore)) {
  DURESS_OBJECT_USED(semaphore);
  if (controlled()) return wait_strand(semaphore, DURESS_CALLER_PC);
  return waited(DURESS_REAL(sem_wait)(semaphore), semaphore, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, sem_timedwait, (sem_t * semaphore, const timespec* until)) {
  DURESS_OBJECT_USED(semaphore);
  if (controlled() && valid_time(until)) {
    return wait_strand(semaphore, DURESS_CALLER_PC, control_deadline(CLOCK_REALTIME, until));
  }
  return waited(DURESS_REAL(sem_timedwait)(semaphore, until), semaphore, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const timespec* until)) {
  DURESS_OBJECT_USED(semaphore);
  if (controlled() && valid_time(until)) {
    return wait_strand(semaphore, DURESS_CALLER_PC, control_deadline(clock, until));
  }
  return waited(DURESS_REAL(sem_clockwait)(semaphore, clock, until), semaphore, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, sem_post, (sem_t * semaphore)) {
  DURESS_OBJECT_USED(semaphore);
  if (controlled()) control_point(OpKind::kPost, semaphore, DURESS_CALLER_PC);
  check_use(semaphore, DURESS_CALLER_PC);
  if (awake()) sync_release_join(semaphore, DURESS_CALLER_PC);
  int result = DURESS_REAL(sem_post)(semaphore);
  if (controlled() && result == 0) {
    scheduler().wake(address_of(semaphore), 1);
    scheduler().changed();
  }
  return result;
}
