// SPDX-License-Identifier: Apache-2.0
//
// POSIX conditions. The order that programs rely on is the mutex's; a signal is announced all the same,
// because some analyses order by signals and not by locks. The C library has two generations of these
// functions; the default look-up may find the old one, whose pthread_cond_t differs, so the version is named.
#include "runtime/interceptors/condition.h"

#include "runtime/interceptors/object.h"
#include "runtime/object_errors.h"

using namespace duress;

#define DURESS_CONDITION_VERSION "GLIBC_2.3.2"

DURESS_INTERCEPTOR_OF(int, pthread_cond_init, DURESS_CONDITION_VERSION,
                      (pthread_cond_t * condition, const pthread_condattr_t* attributes)) {
  DURESS_OBJECT_CHANGED(condition);
  check_init(condition, DURESS_CALLER_PC);
  if (awake()) sync_forget(condition);
  return DURESS_REAL(pthread_cond_init)(condition, attributes);
}

DURESS_INTERCEPTOR_OF(int, pthread_cond_destroy, DURESS_CONDITION_VERSION, (pthread_cond_t * condition)) {
  DURESS_OBJECT_CHANGED(condition);
  check_destroy(condition, DURESS_CALLER_PC);
  int result = DURESS_REAL(pthread_cond_destroy)(condition);
  if (awake() && result == 0) sync_forget(condition);
  return result;
}

/// The mutex's functions, called past their interceptors: what they mean for the detector is said here.
static int wait_strand(pthread_cond_t* condition, pthread_mutex_t* mutex, uptr pc, u64 deadline) {
  return wait_on_condition(condition, mutex, pc, [=] {
    return wait_controlled(
        condition, mutex, pc, deadline,
        [=] {  // after its schedule point
          check_use(condition, pc);
          check_use(mutex, pc);
          return real_mutex_unlock(mutex);
        },
        [=] { return real_mutex_trylock(mutex); });
  });
}

DURESS_INTERCEPTOR_OF(int, pthread_cond_wait, DURESS_CONDITION_VERSION,
                      (pthread_cond_t * condition, pthread_mutex_t* mutex)) {
  DURESS_OBJECT_USED(condition);
  if (controlled()) return wait_strand(condition, mutex, DURESS_CALLER_PC, sched::kNever);
  return wait_on_condition(condition, mutex, DURESS_CALLER_PC,
                           [=] { return DURESS_REAL(pthread_cond_wait)(condition, mutex); });
}

DURESS_INTERCEPTOR_OF(int, pthread_cond_timedwait, DURESS_CONDITION_VERSION,
                      (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until)) {
  DURESS_OBJECT_USED(condition);
  if (controlled() && valid_time(until)) {
    return wait_strand(condition, mutex, DURESS_CALLER_PC, control_deadline(clock_of(condition), until));
  }
  return wait_on_condition(condition, mutex, DURESS_CALLER_PC,
                           [=] { return DURESS_REAL(pthread_cond_timedwait)(condition, mutex, until); });
}

DURESS_INTERCEPTOR(int, pthread_cond_clockwait,
                   (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock,
                    const timespec* until)) {
  DURESS_OBJECT_USED(condition);
  if (controlled() && valid_time(until)) {
    return wait_strand(condition, mutex, DURESS_CALLER_PC, control_deadline(clock, until));
  }
  return wait_on_condition(condition, mutex, DURESS_CALLER_PC, [=] {
    return DURESS_REAL(pthread_cond_clockwait)(condition, mutex, clock, until);
  });
}

DURESS_INTERCEPTOR_OF(int, pthread_cond_signal, DURESS_CONDITION_VERSION, (pthread_cond_t * condition)) {
  DURESS_OBJECT_USED(condition);
  if (controlled()) control_point(OpKind::kSignal, condition, DURESS_CALLER_PC);
  check_use(condition, DURESS_CALLER_PC);
  if (awake()) sync_release_join(condition, DURESS_CALLER_PC);
  if (controlled()) {
    signal_controlled(condition, 1);
    return 0;
  }
  return DURESS_REAL(pthread_cond_signal)(condition);
}

DURESS_INTERCEPTOR_OF(int, pthread_cond_broadcast, DURESS_CONDITION_VERSION, (pthread_cond_t * condition)) {
  DURESS_OBJECT_USED(condition);
  if (controlled()) control_point(OpKind::kBroadcast, condition, DURESS_CALLER_PC);
  check_use(condition, DURESS_CALLER_PC);
  if (awake()) sync_release_join(condition, DURESS_CALLER_PC);
  if (controlled()) {
    signal_controlled(condition, ~0u);
    return 0;
  }
  return DURESS_REAL(pthread_cond_broadcast)(condition);
}
