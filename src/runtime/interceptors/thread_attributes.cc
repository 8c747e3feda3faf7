// SPDX-License-Identifier: Apache-2.0
//
// What the C library asks the kernel about one thread: under control the kernel does not have it
// (runtime/thread_emulation.h), and would say so.
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "runtime/control.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/thread_handles.h"
#include "runtime/thread_emulation.h"

using namespace duress;

DURESS_INTERCEPTOR(int, pthread_getattr_np, (pthread_t id, pthread_attr_t* attributes)) {
  EmulatedNumbers here;
  return DURESS_REAL(pthread_getattr_np)(id, attributes);
}

DURESS_INTERCEPTOR(int, pthread_getschedparam, (pthread_t id, int* policy, sched_param* parameters)) {
  EmulatedNumbers here;
  return DURESS_REAL(pthread_getschedparam)(id, policy, parameters);
}

DURESS_INTERCEPTOR(int, pthread_setschedparam, (pthread_t id, int policy, const sched_param* parameters)) {
  EmulatedNumbers here;
  return DURESS_REAL(pthread_setschedparam)(id, policy, parameters);
}

DURESS_INTERCEPTOR(int, pthread_setschedprio, (pthread_t id, int priority)) {
  EmulatedNumbers here;
  return DURESS_REAL(pthread_setschedprio)(id, priority);
}

/// One kernel thread runs all of them: its time is all there is.
DURESS_INTERCEPTOR(int, pthread_getcpuclockid, (pthread_t id, clockid_t* clock)) {
  if (!emulated_strand(id)) return DURESS_REAL(pthread_getcpuclockid)(id, clock);
  *clock = CLOCK_THREAD_CPUTIME_ID;
  return 0;
}

DURESS_INTERCEPTOR(int, pthread_getname_np, (pthread_t id, char* name, size_t size)) {
  sched::Strand* strand = emulated_strand(id);
  // A thread without a name has that of the process.
  if (!strand || !strand->name[0])
    return DURESS_REAL(pthread_getname_np)(strand ? pthread_self() : id, name, size);
  if (size < sizeof strand->name) return ERANGE;
  memcpy(name, strand->name, sizeof strand->name);
  return 0;
}
