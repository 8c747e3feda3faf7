// SPDX-License-Identifier: Apache-2.0
//
// Threads: create → start, end → join. The protocol:
//
//   creator   thread_created; makes a handle; real create with run_posix or run_c11
//   thread    enrols the handle; thread_started; the program's function; thread-local destructors; then the
//             destructors of keys, in rounds. One key is ours: its destructor sets it again until the last
//             round and only then calls thread_ended, so that the program's own destructors are still seen
//   joiner    finds the handle; real join; thread_joined
//
// A thread that leaves through pthread_exit, thrd_exit or cancellation passes through the same destructors,
// so these functions need no interceptor. Signals wait until thread_started: a handler must not run in a
// thread that the runtime does not know yet.
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <threads.h>

#include <cstdarg>

#include "base/raw.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/thread_handles.h"

namespace duress {
namespace {

pthread_key_t end_key;
constinit std::atomic<bool> end_key_made{false};

void on_thread_end(void* value) {
  auto* handle = static_cast<ThreadHandle*>(value);
  if (++handle->rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(end_key, handle) == 0) return;
  handle_ended(handle);
  thread_ended();
  drop_handle(handle);
}

u64 change_mask(int how, u64 mask) {
  u64 old = 0;
  raw_syscall(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&mask), reinterpret_cast<long>(&old),
              sizeof mask);
  return old;
}

/// The new thread's first steps; the handle keeps what the thread will need.
void begin_thread(ThreadHandle* handle) {
  enroll_handle(handle, pthread_self());
  thread_started(handle->thread);
  pthread_setspecific(end_key, handle);
  if (handle->restore_mask) change_mask(SIG_SETMASK, handle->signal_mask);
}

void* run_posix(void* data) {
  auto* handle = static_cast<ThreadHandle*>(data);
  begin_thread(handle);
  return handle->posix_function(handle->argument);
}

int run_c11(void* data) {
  auto* handle = static_cast<ThreadHandle*>(data);
  begin_thread(handle);
  return handle->c11_function(handle->argument);
}

/// `create` makes the real call and returns 0 if there is a new thread: the handle is then the thread's
/// alone.
template <typename Create>
int create_thread(ThreadHandle* handle, bool block_signals, Create create) {
  Thread* thread = handle->thread;
  bool unreferenced = handle->detached;
  u64 mask = 0;
  if (block_signals) {
    mask = change_mask(SIG_SETMASK, ~u64{0});
    handle->signal_mask = mask;
    handle->restore_mask = true;
  }
  int result = create();
  if (result != 0) {
    abandon_handle(handle);
    thread_not_created(thread);
  } else if (unreferenced) {
    thread_unreferenced(thread);
  }
  if (block_signals) change_mask(SIG_SETMASK, mask);
  return result;
}

void joined(ThreadHandle* handle, bool success, uptr pc) {
  if (!handle) {
    if (success) incomplete("join of a thread whose creation was not seen");
    return;
  }
  if (success) {
    handle_joined(handle);
    thread_joined(handle->thread, pc);
  }
  drop_handle(handle);
}

void detached(ThreadHandle* handle, bool success) {
  if (!handle) return;
  if (success) {
    handle_detached(handle);
    thread_unreferenced(handle->thread);
  }
  drop_handle(handle);
}

}  // namespace

void prepare_threads() {
  if (end_key_made.exchange(true)) return;
  if (pthread_key_create(&end_key, on_thread_end) != 0)
    incomplete("no thread-specific key is left: ends of threads");
}

}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, pthread_create,
                   (pthread_t * id, const pthread_attr_t* attributes, void* (*function)(void*),
                    void* argument)) {
  Thread* thread = awake() ? thread_created(DURESS_CALLER_PC) : nullptr;
  if (!thread) return DURESS_REAL(pthread_create)(id, attributes, function, argument);
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes) pthread_attr_getdetachstate(attributes, &state);
  ThreadHandle* handle = make_handle(thread, state == PTHREAD_CREATE_DETACHED);
  handle->posix_function = function;
  handle->argument = argument;
  // If the attributes name a signal mask, the thread starts with that one, and we leave it alone.
  sigset_t own_mask;
  bool inherits = !attributes || pthread_attr_getsigmask_np(attributes, &own_mask) != 0;
  return create_thread(handle, inherits,
                       [=] { return DURESS_REAL(pthread_create)(id, attributes, run_posix, handle); });
}

DURESS_INTERCEPTOR(int, thrd_create, (thrd_t * id, thrd_start_t function, void* argument)) {
  Thread* thread = awake() ? thread_created(DURESS_CALLER_PC) : nullptr;
  if (!thread) return DURESS_REAL(thrd_create)(id, function, argument);
  ThreadHandle* handle = make_handle(thread, /*detached=*/false);
  handle->c11_function = function;
  handle->argument = argument;
  static_assert(thrd_success == 0);
  return create_thread(handle, /*block_signals=*/true,
                       [=] { return DURESS_REAL(thrd_create)(id, run_c11, handle); });
}

// A join that is cancelled leaves its reference to the handle behind: a few bytes are lost, nothing else.

DURESS_INTERCEPTOR(int, pthread_join, (pthread_t id, void** value)) {
  if (!awake()) return DURESS_REAL(pthread_join)(id, value);
  ThreadHandle* handle = find_handle(id);
  int result = DURESS_REAL(pthread_join)(id, value);
  joined(handle, result == 0, DURESS_CALLER_PC);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_tryjoin_np, (pthread_t id, void** value)) {
  if (!awake()) return DURESS_REAL(pthread_tryjoin_np)(id, value);
  ThreadHandle* handle = find_handle(id);
  int result = DURESS_REAL(pthread_tryjoin_np)(id, value);
  joined(handle, result == 0, DURESS_CALLER_PC);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_timedjoin_np, (pthread_t id, void** value, const timespec* until)) {
  if (!awake()) return DURESS_REAL(pthread_timedjoin_np)(id, value, until);
  ThreadHandle* handle = find_handle(id);
  int result = DURESS_REAL(pthread_timedjoin_np)(id, value, until);
  joined(handle, result == 0, DURESS_CALLER_PC);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_clockjoin_np,
                   (pthread_t id, void** value, clockid_t clock, const timespec* until)) {
  if (!awake()) return DURESS_REAL(pthread_clockjoin_np)(id, value, clock, until);
  ThreadHandle* handle = find_handle(id);
  int result = DURESS_REAL(pthread_clockjoin_np)(id, value, clock, until);
  joined(handle, result == 0, DURESS_CALLER_PC);
  return result;
}

DURESS_INTERCEPTOR(int, thrd_join, (thrd_t id, int* value)) {
  if (!awake()) return DURESS_REAL(thrd_join)(id, value);
  ThreadHandle* handle = find_handle(id);
  int result = DURESS_REAL(thrd_join)(id, value);
  joined(handle, result == thrd_success, DURESS_CALLER_PC);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_detach, (pthread_t id)) {
  if (!awake()) return DURESS_REAL(pthread_detach)(id);
  ThreadHandle* handle = find_handle(id);
  int result = DURESS_REAL(pthread_detach)(id);
  detached(handle, result == 0);
  return result;
}

DURESS_INTERCEPTOR(int, thrd_detach, (thrd_t id)) {
  if (!awake()) return DURESS_REAL(thrd_detach)(id);
  ThreadHandle* handle = find_handle(id);
  int result = DURESS_REAL(thrd_detach)(id);
  detached(handle, result == thrd_success);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_setname_np, (pthread_t id, const char* name)) {
  int result = DURESS_REAL(pthread_setname_np)(id, name);
  if (!awake() || result != 0) return result;
  if (pthread_equal(id, pthread_self())) {
    thread_named(nullptr, name);
  } else if (ThreadHandle* handle = find_handle(id)) {
    thread_named(handle->thread, name);
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
  int result = DURESS_REAL(prctl)(option, a, b, c, d);
  if (awake() && result == 0 && option == PR_SET_NAME)
    thread_named(nullptr, reinterpret_cast<const char*>(a));
  return result;
}
