// SPDX-License-Identifier: Apache-2.0
//
// Processors. A controlled execution runs one strand at a time: on one processor its kernel threads hand over
// without waking another one, and changes of its memory map interrupt nobody (bench/explore, server: 1.4 to 2
// times the runs). The program must not see it: it gets the answers that it would have got.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/raw.h"
#include "runtime/control.h"
#include "runtime/interceptors/real.h"

namespace duress {
namespace {

constinit cpu_set_t allowed = {};  // before the execution began
constinit bool pinned = false;

bool find_allowed() {
  return raw_syscall(SYS_sched_getaffinity, 0, sizeof allowed, reinterpret_cast<long>(&allowed)) > 0;
}

void pin_to(unsigned processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  pinned = raw_syscall(SYS_sched_setaffinity, 0, sizeof one, reinterpret_cast<long>(&one)) == 0;
}

}  // namespace

void control_processor_begin() {
  if (pinned || !find_allowed()) return;
  unsigned here = 0;
  if (raw_syscall(SYS_getcpu, reinterpret_cast<long>(&here)) != 0 || here >= CPU_SETSIZE) return;
  pin_to(here);
}

void control_server_processor(unsigned index) {
  if (!find_allowed() || CPU_COUNT(&allowed) == 0) return;
  index %= static_cast<unsigned>(CPU_COUNT(&allowed));
  for (unsigned processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &allowed) && index-- == 0) return pin_to(processor);
  }
}

}  // namespace duress

using namespace duress;

static int copy_allowed(size_t size, cpu_set_t* set) {
  if (size == 0) return EINVAL;
  memset(set, 0, size);
  memcpy(set, &allowed, size < sizeof allowed ? size : sizeof allowed);
  return 0;
}

DURESS_INTERCEPTOR(int, sched_getaffinity, (pid_t pid, size_t size, cpu_set_t* set)) {
  if (!controlled() || !pinned) return DURESS_REAL(sched_getaffinity)(pid, size, set);
  int error = copy_allowed(size, set);
  if (error) errno = error;
  return error ? -1 : 0;
}

DURESS_INTERCEPTOR(int, pthread_getaffinity_np, (pthread_t id, size_t size, cpu_set_t* set)) {
  if (!controlled() || !pinned) return DURESS_REAL(pthread_getaffinity_np)(id, size, set);
  return copy_allowed(size, set);
}

// What a program wishes for its threads' places does not matter where one runs at a time.

DURESS_INTERCEPTOR(int, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t* set)) {
  if (!controlled() || !pinned) return DURESS_REAL(sched_setaffinity)(pid, size, set);
  return 0;
}

DURESS_INTERCEPTOR(int, pthread_setaffinity_np, (pthread_t id, size_t size, const cpu_set_t* set)) {
  if (!controlled() || !pinned) return DURESS_REAL(pthread_setaffinity_np)(id, size, set);
  return 0;
}

DURESS_INTERCEPTOR(int, get_nprocs, ()) {
  return controlled() && pinned ? CPU_COUNT(&allowed) : DURESS_REAL(get_nprocs)();
}

DURESS_INTERCEPTOR(long, sysconf, (int name)) {
  if (controlled() && pinned && name == _SC_NPROCESSORS_ONLN) return CPU_COUNT(&allowed);
  return DURESS_REAL(sysconf)(name);
}
