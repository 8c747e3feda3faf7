// SPDX-License-Identifier: Apache-2.0
//
// Joining, detaching and naming threads. See thread.cc for the protocol.
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <threads.h>

#include <cstdarg>

#include "runtime/control.h"
#include "runtime/gone_frames.h"
#include "runtime/interceptors/pool.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/thread_handles.h"
#include "runtime/what_if.h"

namespace duress {
namespace {

/// Waits in the scheduler until the thread has ended; the real join then returns at once. False: out of time.
bool await_end(ThreadHandle* handle, pthread_t id, uptr pc, u64 deadline = sched::kNever) {
  if (!controlled()) return true;
  sched::Strand* strand = handle ? handle->strand : nullptr;
  if (!strand) strand = scheduler().strands();  // the first thread was not created
  if ((!handle || !handle->strand) && strand->kernel.thread_pointer != id) return true;
  if (strand == controlled()) return true;
  control_cancellation_point();
  Operation operation = {OpKind::kJoin, 0, address_of(strand), 0, pc};
  if (strand->state == sched::Strand::State::kEnded) scheduler().point(operation);
  while (strand->state != sched::Strand::State::kEnded) {
    auto wake = scheduler().block(operation, operation.object, deadline);
    if (wake == sched::Wake::kTimeout) return false;
    if (wake == sched::Wake::kInterrupted) control_cancellation_point();
  }
  return true;
}

bool has_ended(ThreadHandle* handle) {
  return !handle || !handle->strand || handle->strand->state == sched::Strand::State::kEnded;
}

void joined(ThreadHandle* handle, pthread_t id, bool success, uptr pc) {
  if (!handle && success) handle = find_handle(id);  // the main thread has one since it left
  if (!handle) {
    if (success) incomplete("join of a thread whose creation was not seen");
    return;
  }
  if (success) {
    if (handle->strand) handle->strand->joined = true;
    if (DURESS_UNLIKELY(g_strand_observer != nullptr) && handle->strand)
      g_strand_observer->joined(controlled(), handle->strand);
    if (DURESS_UNLIKELY(g_what_if)) what_if_joined(handle->strand, pc);
    handle_joined(handle);
    thread_joined(handle->thread, pc);
  }
  drop_handle(handle);
}

void detached(ThreadHandle* handle, bool success) {
  if (!handle) return;
  if (success) {
    if (handle->strand) handle->strand->detached = true;
    handle_detached(handle);
    thread_unreferenced(handle->thread);
  }
  drop_handle(handle);
}

void name_strand(sched::Strand* strand, const char* name) {
  if (!strand) return;
  size_t n = 0;
  for (; name[n] && n + 1 < sizeof strand->name; ++n) strand->name[n] = name[n];
  strand->name[n] = 0;
}

}  // namespace
}  // namespace duress

namespace duress {

sched::Strand* emulated_strand(pthread_t id) {
  if (!controlled() || !scheduler().emulates_threads()) return nullptr;
  sched::Strand* strand = nullptr;
  if (pthread_equal(id, pthread_self())) {
    strand = controlled();
  } else if (ThreadHandle* handle = find_handle(id)) {
    strand = handle->strand;
    drop_handle(handle);
  }
  return strand && strand->number != 0 ? strand : nullptr;
}
}  // namespace duress

using namespace duress;

template <typename Call>
static int upkeep(Call call) {
  ThreadUpkeep during;
  return call();
}

// A join that is cancelled leaves its reference to the handle behind: a few bytes are lost, nothing else.

DURESS_INTERCEPTOR(int, pthread_join, (pthread_t id, void** value)) {
  if (!awake()) return DURESS_REAL(pthread_join)(id, value);
  if (pooled()) return pool_join(pool_find(id), value, sched::kNever, DURESS_CALLER_PC);
  ThreadHandle* handle = find_handle(id);
  {
    CallerFrame caller(DURESS_CALLER_FRAME);
    await_end(handle, id, DURESS_CALLER_PC);
  }
  if (handle) thread_joining(handle->thread);
  int result = upkeep([=] { return DURESS_REAL(pthread_join)(id, value); });
  if (handle) thread_joining(nullptr);
  joined(handle, id, result == 0, DURESS_CALLER_PC);
  return result;
}

namespace duress {
void join_real_thread(pthread_t id) {
  DURESS_REAL(pthread_join)(id, nullptr);
}
}  // namespace duress

DURESS_INTERCEPTOR(int, pthread_tryjoin_np, (pthread_t id, void** value)) {
  if (!awake()) return DURESS_REAL(pthread_tryjoin_np)(id, value);
  if (pooled()) {
    sched::Strand* strand = pool_find(id);
    control_point(OpKind::kJoin, strand, DURESS_CALLER_PC);
    bool runs = strand && strand->state != sched::Strand::State::kEnded;
    return runs ? EBUSY : pool_join(strand, value, sched::kNever, DURESS_CALLER_PC);
  }
  ThreadHandle* handle = find_handle(id);
  if (controlled()) control_point(OpKind::kJoin, handle ? handle->strand : nullptr, DURESS_CALLER_PC);
  int result = has_ended(handle) ? upkeep([=] { return DURESS_REAL(pthread_tryjoin_np)(id, value); }) : EBUSY;
  joined(handle, id, result == 0, DURESS_CALLER_PC);
  return result;
}

static int timed_join(pthread_t id, void** value, clockid_t clock, const timespec* until, uptr pc);

DURESS_INTERCEPTOR(int, pthread_timedjoin_np, (pthread_t id, void** value, const timespec* until)) {
  if (!awake()) return DURESS_REAL(pthread_timedjoin_np)(id, value, until);
  return timed_join(id, value, CLOCK_REALTIME, until, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, pthread_clockjoin_np,
                   (pthread_t id, void** value, clockid_t clock, const timespec* until)) {
  if (!awake()) return DURESS_REAL(pthread_clockjoin_np)(id, value, clock, until);
  return timed_join(id, value, clock, until, DURESS_CALLER_PC);
}

static int timed_join(pthread_t id, void** value, clockid_t clock, const timespec* until, uptr pc) {
  if (pooled() && valid_time(until))
    return pool_join(pool_find(id), value, control_deadline(clock, until), pc);
  ThreadHandle* handle = find_handle(id);
  bool late = controlled() && valid_time(until) && !await_end(handle, id, pc, control_deadline(clock, until));
  // A deadline of virtual time means nothing to the C library.
  bool ended = handle && handle->strand;
  int result = late    ? ETIMEDOUT
               : ended ? upkeep([=] { return DURESS_REAL(pthread_join)(id, value); })
                       : upkeep([=] { return DURESS_REAL(pthread_clockjoin_np)(id, value, clock, until); });
  joined(handle, id, result == 0, pc);
  return result;
}

DURESS_INTERCEPTOR(int, thrd_join, (thrd_t id, int* value)) {
  if (!awake()) return DURESS_REAL(thrd_join)(id, value);
  if (pooled()) {
    void* result = nullptr;
    if (pool_join(pool_find(id), &result, sched::kNever, DURESS_CALLER_PC) != 0) return thrd_error;
    if (value) *value = static_cast<int>(reinterpret_cast<long>(result));
    return thrd_success;
  }
  ThreadHandle* handle = find_handle(id);
  await_end(handle, id, DURESS_CALLER_PC);
  if (handle) thread_joining(handle->thread);
  int result = upkeep([=] { return DURESS_REAL(thrd_join)(id, value); });
  if (handle) thread_joining(nullptr);
  joined(handle, id, result == thrd_success, DURESS_CALLER_PC);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_detach, (pthread_t id)) {
  if (!awake()) return DURESS_REAL(pthread_detach)(id);
  if (pooled()) return pool_detach(pool_find(id));
  ThreadHandle* handle = find_handle(id);
  int result = upkeep([=] { return DURESS_REAL(pthread_detach)(id); });
  detached(handle, result == 0);
  return result;
}

DURESS_INTERCEPTOR(int, thrd_detach, (thrd_t id)) {
  if (!awake()) return DURESS_REAL(thrd_detach)(id);
  if (pooled()) return pool_detach(pool_find(id)) == 0 ? thrd_success : thrd_error;
  ThreadHandle* handle = find_handle(id);
  int result = DURESS_REAL(thrd_detach)(id);
  detached(handle, result == thrd_success);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_setname_np, (pthread_t id, const char* name)) {
  if (pooled()) {
    name_strand(pool_find(id), name);
    return 0;
  }
  int result = 0;
  if (emulated_strand(id)) {
    if (strlen(name) >= sizeof(sched::Strand::name)) return ERANGE;
  } else {
    result = DURESS_REAL(pthread_setname_np)(id, name);
  }
  if (!awake() || result != 0) return result;
  if (pthread_equal(id, pthread_self())) {
    thread_named(nullptr, name);
    name_strand(controlled(), name);
  } else if (ThreadHandle* handle = find_handle(id)) {
    if (handle->thread) thread_named(handle->thread, name);
    name_strand(handle->strand, name);
    drop_handle(handle);
  }
  return result;
}

DURESS_INTERCEPTOR(int, prctl, (int option, ...)) {
  va_list list;
  va_start(list, option);
  unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long);
  unsigned long c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
  va_end(list);
  sched::Strand* self = emulated_strand(pthread_self());
  if (self && option == PR_GET_NAME && self->name[0]) {
    memcpy(reinterpret_cast<char*>(a), self->name, sizeof self->name);
    return 0;
  }
  int result = self && option == PR_SET_NAME ? 0 : DURESS_REAL(prctl)(option, a, b, c, d);
  if (awake() && result == 0 && option == PR_SET_NAME) {
    thread_named(nullptr, reinterpret_cast<const char*>(a));
    name_strand(controlled(), reinterpret_cast<const char*>(a));
  }
  return result;
}
