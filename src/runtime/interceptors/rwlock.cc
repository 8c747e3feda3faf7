// SPDX-License-Identifier: Apache-2.0
//
// Read-write locks. One function unlocks both ways, so it must find out which it is: while a writer holds the
// lock nobody else does, and the C library keeps the writer's number in the lock, zero when there is none.
#include <pthread.h>

#include "runtime/control.h"
#include "runtime/interceptors/object.h"
#include "runtime/object_errors.h"

using namespace duress;

static int read_locked(int result, pthread_rwlock_t* lock, uptr pc) {
  if (awake() && result == 0) sync_locked(lock, /*shared=*/true, pc);
  return result;
}

static int write_locked(int result, pthread_rwlock_t* lock, uptr pc) {
  if (awake() && result == 0) sync_locked(lock, /*shared=*/false, pc);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_rwlock_init,
                   (pthread_rwlock_t * lock, const pthread_rwlockattr_t* attributes)) {
  DURESS_OBJECT_CHANGED(lock);
  check_init(lock, DURESS_CALLER_PC);
  if (awake()) sync_forget(lock);
  return DURESS_REAL(pthread_rwlock_init)(lock, attributes);
}

DURESS_INTERCEPTOR(int, pthread_rwlock_destroy, (pthread_rwlock_t * lock)) {
  DURESS_OBJECT_CHANGED(lock);
  if (watches_objects()) {
    ObjectState state = state_of(lock);
    state.in_use |= state.exists && is_read(lock);
    check_object_destroy(lock, state, DURESS_CALLER_PC);
  }
  int result = DURESS_REAL(pthread_rwlock_destroy)(lock);
  if (awake() && result == 0) sync_forget(lock);
  mark_destroyed(lock);
  return result;
}

/// A lock that prefers writers lets no reader in while one waits. In controlled mode the writer waits in the
/// scheduler, so the C library does not know of it.
static int try_read(pthread_rwlock_t* lock, uptr pc);
static int try_write(pthread_rwlock_t* lock, uptr pc);

DURESS_INTERCEPTOR(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock)) {
  DURESS_LOCK_USED(lock);
  if (controlled()) control_point(OpKind::kTryReadLock, lock, DURESS_CALLER_PC, kReadWriteLock);
  return read_locked(
      controlled() ? try_read(lock, DURESS_CALLER_PC) : DURESS_REAL(pthread_rwlock_tryrdlock)(lock), lock,
      DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock)) {
  DURESS_LOCK_USED(lock);
  if (controlled()) control_point(OpKind::kTryLock, lock, DURESS_CALLER_PC, kReadWriteLock);
  int result = controlled() ? try_write(lock, DURESS_CALLER_PC) : DURESS_REAL(pthread_rwlock_trywrlock)(lock);
  if (controlled() && result == 0) scheduler().lock_taken(address_of(lock));
  return write_locked(result, lock, DURESS_CALLER_PC);
}

static int try_read(pthread_rwlock_t* lock, uptr pc) {
  check_use(lock, pc);
  bool prefers_writers = lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
  if (prefers_writers && scheduler().is_wanted(address_of(lock))) return EBUSY;
  return DURESS_REAL(pthread_rwlock_tryrdlock)(lock);
}

static int try_write(pthread_rwlock_t* lock, uptr pc) {
  check_use(lock, pc);
  return DURESS_REAL(pthread_rwlock_trywrlock)(lock);
}

// In controlled mode the try is repeated after every unlock. Its answers are those of the lock, but
// for a writer that asks again, which a try calls busy and the lock a deadlock.

static bool is_own_writer(const pthread_rwlock_t* lock) {
  return __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED) == own_thread_number();
}

static int read_strand(pthread_rwlock_t* lock, uptr pc, u64 deadline = sched::kNever) {
  if (is_own_writer(lock)) return EDEADLK;
  int result = control_acquire(
      OpKind::kReadLock, lock, pc, deadline, [=] { return try_read(lock, pc); }, kReadWriteLock);
  return read_locked(result, lock, pc);
}

static int write_strand(pthread_rwlock_t* lock, uptr pc, u64 deadline = sched::kNever) {
  if (is_own_writer(lock)) return EDEADLK;
  int result =
      control_acquire(OpKind::kLock, lock, pc, deadline, [=] { return try_write(lock, pc); }, kReadWriteLock);
  if (result == 0) scheduler().lock_taken(address_of(lock));
  return write_locked(result, lock, pc);
}

DURESS_INTERCEPTOR(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock)) {
  DURESS_LOCK_USED(lock);
  if (controlled()) return read_strand(lock, DURESS_CALLER_PC);
  return read_locked(DURESS_REAL(pthread_rwlock_rdlock)(lock), lock, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec* until)) {
  DURESS_LOCK_USED(lock);
  if (controlled() && valid_time(until)) {
    return read_strand(lock, DURESS_CALLER_PC, control_deadline(CLOCK_REALTIME, until));
  }
  return read_locked(DURESS_REAL(pthread_rwlock_timedrdlock)(lock, until), lock, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_rwlock_clockrdlock,
                   (pthread_rwlock_t * lock, clockid_t clock, const timespec* until)) {
  DURESS_LOCK_USED(lock);
  if (controlled() && valid_time(until)) {
    return read_strand(lock, DURESS_CALLER_PC, control_deadline(clock, until));
  }
  return read_locked(DURESS_REAL(pthread_rwlock_clockrdlock)(lock, clock, until), lock, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock)) {
  DURESS_LOCK_USED(lock);
  if (controlled()) return write_strand(lock, DURESS_CALLER_PC);
  return write_locked(DURESS_REAL(pthread_rwlock_wrlock)(lock), lock, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* until)) {
  DURESS_LOCK_USED(lock);
  if (controlled() && valid_time(until)) {
    return write_strand(lock, DURESS_CALLER_PC, control_deadline(CLOCK_REALTIME, until));
  }
  return write_locked(DURESS_REAL(pthread_rwlock_timedwrlock)(lock, until), lock, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_rwlock_clockwrlock,
                   (pthread_rwlock_t * lock, clockid_t clock, const timespec* until)) {
  DURESS_LOCK_USED(lock);
  if (controlled() && valid_time(until)) {
    return write_strand(lock, DURESS_CALLER_PC, control_deadline(clock, until));
  }
  return write_locked(DURESS_REAL(pthread_rwlock_clockwrlock)(lock, clock, until), lock, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock)) {
  if (controlled()) control_point(OpKind::kUnlock, lock, DURESS_CALLER_PC, kReadWriteLock);
  check_use(lock, DURESS_CALLER_PC);
  if (awake()) {
    bool shared = __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED) == 0;
    sync_unlocking(lock, shared, DURESS_CALLER_PC);
  }
  int result = DURESS_REAL(pthread_rwlock_unlock)(lock);
  if (controlled()) {
    scheduler().lock_given(address_of(lock));
    scheduler().wake(address_of(lock));
  }
  return result;
}
