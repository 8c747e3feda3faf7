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
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <threads.h>

#include "base/raw.h"
#include "runtime/control.h"
#include "runtime/interceptors/pool.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/signals.h"
#include "runtime/interceptors/thread_handles.h"
#include "runtime/misuse.h"
#include "runtime/robust_mutexes.h"
#include "runtime/thread_emulation.h"
#include "runtime/thread_start.h"
#include "runtime/what_if.h"

extern "C" char __libc_single_threaded __attribute__((weak));

namespace duress {
namespace {

pthread_key_t end_key;
constinit std::atomic<bool> end_key_made{false};

/// A robust mutex that the thread leaves locked.
void abandon_mutex(std::atomic<u32>& word) {
  sync_unlocking(&word, /*shared=*/false, 0);
  scheduler().lock_abandoned(address_of(&word));
}

void on_thread_end(void* value) {
  auto* handle = static_cast<ThreadHandle*>(value);
  if (++handle->rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(end_key, handle) == 0) return;
  misuse_at_thread_end();  // also of those who left through pthread_exit: all that could unlock has run
  if (controlled()) visit_robust_mutexes(controlled()->kernel, abandon_mutex);
  handle_ended(handle);
  if (DURESS_UNLIKELY(g_what_if)) what_if_ended();
  bool detected = handle->thread != nullptr;
  thread_ended();
  drop_handle(handle);
  if (!controlled()) return;
  if (!detected) control_leave_strand();
  sched::Strand* strand = t_strand;
  t_strand = nullptr;
  scheduler().end();
  if (scheduler().emulates_threads()) emulation_end(strand);
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
  if (handle->strand) {
    t_strand = handle->strand;
    if (scheduler().emulates_threads()) {
      set_own_thread_number(handle->strand->kernel.os_id);
      emulation_arrive(handle->strand);
    } else {
      own_thread_number();  // asked for on its own kernel thread
      // Its own kernel thread takes no signals, the first one does; but its own faults are its own.
      u64 faults = 0;
      for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
        faults |= u64{1} << (signal - 1);
      change_mask(SIG_SETMASK, ~faults);
      scheduler().arrive(handle->strand);
    }
  }
  thread_started(handle->thread);
  if (handle->strand && !handle->thread) control_enter_strand();
  pthread_setspecific(end_key, handle);
  if (handle->restore_mask && !handle->strand) change_mask(SIG_SETMASK, handle->signal_mask);
}

void* run_posix(void* data) {
  auto* handle = static_cast<ThreadHandle*>(data);
  begin_thread(handle);
  if (controlled()) controlled()->job_frame = __builtin_frame_address(0);
  void* result = handle->posix_function(handle->argument);
  misuse_at_thread_end();
  return result;
}

int run_c11(void* data) {
  auto* handle = static_cast<ThreadHandle*>(data);
  begin_thread(handle);
  if (controlled()) controlled()->job_frame = __builtin_frame_address(0);
  int result = handle->c11_function(handle->argument);
  misuse_at_thread_end();
  return result;
}

/// `create` makes the real call and returns 0 if there is a new thread: the handle is then the thread's
/// alone.
template <typename Create>
int create_thread(ThreadHandle* handle, bool block_signals, Create create) {
  Thread* thread = handle->thread;
  sched::Strand* strand = handle->strand;
  bool unreferenced = handle->detached;
  u64 mask = 0;
  if (block_signals) {
    mask =
        change_mask(SIG_SETMASK, ~(u64{1} << (SIGSYS - 1)));  // that one is the runtime's (rollback_calls.h)
    handle->signal_mask = mask;
    handle->restore_mask = true;
  }
  int result;
  {
    ThreadUpkeep during;
    EmulatedCreation making(strand);
    result = create();
    if (result == 0) making.succeeded();
  }
  if (result != 0) {
    abandon_handle(handle);
    thread_not_created(thread);
    if (strand) {
      strand->joined = true;
      scheduler().forget_strand(strand);
    }
  } else if (unreferenced) {
    thread_unreferenced(thread);
  }
  if (block_signals) change_mask(SIG_SETMASK, mask);
  if (strand && result == 0) {
    scheduler().launch(strand);
    scheduler().created(strand->created_at);
  }
  return result;
}

/// The runtime's part before the real create. Null: the thread is none of its business.
ThreadHandle* announce_thread(bool detached, const void* function, void* argument, const uptr* caller) {
  uptr pc = *caller;
  if (!awake()) return nullptr;
  if (&__libc_single_threaded) __libc_single_threaded = 0;  // the C library has made threads before
  control_fork_point();
  if (controlled()) scheduler().creates(pc);
  Thread* thread = thread_created(caller);
  if (!thread && !controlled()) return nullptr;
  ThreadHandle* handle = make_handle(thread, detached);
  if (controlled()) {
    const bool compares = scheduler().request().symmetry;
    handle->strand = scheduler().make_strand(pc, compares ? thread_start_key(function, argument) : 0);
    handle->strand->thread_made = true;
    handle->strand->signals.blocked = controlled()->signals.blocked;
    if (thread) thread_path(thread, handle->strand->path);
    if (DURESS_UNLIKELY(g_strand_observer != nullptr))
      g_strand_observer->created(controlled(), handle->strand);
    misuse_note_thread(handle->strand, caller);
    handle->strand->detached = detached;
  }
  return handle;
}

/// The main thread has no handle: nobody created it. It gets one when it ends before the process does.
void prepare_exit() {
  if (!awake() || pthread_getspecific(end_key)) return;
  Thread* thread = controlled() ? nullptr : running_thread();
  if (!thread && !controlled()) return;
  ThreadHandle* handle = make_handle(thread, /*detached=*/thread == nullptr);
  enroll_handle(handle, pthread_self());
  pthread_setspecific(end_key, handle);
}

/// Whether the attributes name one: without, the C library counts back from address 0.
bool has_stack(const pthread_attr_t* attributes) {
  void* begin = nullptr;
  size_t size = 0;
  return attributes && pthread_attr_getstack(attributes, &begin, &size) == 0 &&
         reinterpret_cast<uptr>(begin) + size != 0;
}

// ---- before the first execution

constinit pthread_t warm_threads[kWarmThreads] = {};
#ifdef DURESS_STRONG_INTERCEPTORS
constexpr bool kWarms = false;  // a sanitizer would count them
#else
constexpr bool kWarms = true;
#endif

void* end_at_once(void*) {
  return nullptr;
}
bool create_warm(int index) {
  return make_real_thread(&warm_threads[index], nullptr, end_at_once, nullptr) == 0;
}
void join_warm(int index) {
  join_real_thread(warm_threads[index]);
}

}  // namespace

void prepare_threads() {
  if (end_key_made.exchange(true)) return;
  if (pthread_key_create(&end_key, on_thread_end) != 0)
    incomplete("no thread-specific key is left: ends of threads");
}

void warm_up_threads() {
  if (!kWarms) return;
  char single = &__libc_single_threaded ? __libc_single_threaded : 0;
  emulation_warm_up(kWarmThreads, create_warm, join_warm);
  if (&__libc_single_threaded) __libc_single_threaded = single;  // until the program makes one
  abandon_handle(make_handle(nullptr, /*detached=*/true));
}

}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, pthread_create,
                   (pthread_t * id, const pthread_attr_t* attributes, void* (*function)(void*),
                    void* argument)) {
  int state = PTHREAD_CREATE_JOINABLE;
  if (pooled()) {
    if (attributes) pthread_attr_getdetachstate(attributes, &state);
    return pool_create(id, state == PTHREAD_CREATE_DETACHED, function, argument, DURESS_CALLER_PC);
  }
  if (awake() && attributes) pthread_attr_getdetachstate(attributes, &state);
  ThreadHandle* handle =
      announce_thread(state == PTHREAD_CREATE_DETACHED, reinterpret_cast<const void*>(function), argument,
                      DURESS_CALLER_SLOT);
  if (!handle) return DURESS_REAL(pthread_create)(id, attributes, function, argument);
  handle->posix_function = function;
  handle->argument = argument;
  // If the attributes name a signal mask, the thread starts with that one, and we leave it alone.
  sigset_t own_mask;
  bool inherits = !attributes || pthread_attr_getsigmask_np(attributes, &own_mask) != 0;
  sched::Strand* strand = handle->strand;
  if (strand && !inherits) strand->signals.blocked = mask_of(&own_mask);
  return create_thread(handle, inherits, [=] {
    int result = DURESS_REAL(pthread_create)(id, attributes, run_posix, handle);
    if (strand && has_stack(attributes)) strand->kernel.stack_begin = 0;
    return result;
  });
}

DURESS_INTERCEPTOR(int, thrd_create, (thrd_t * id, thrd_start_t function, void* argument)) {
  if (pooled()) {
    // Its int comes back in the register where a pointer would.
    auto* job = reinterpret_cast<void* (*)(void*)>(reinterpret_cast<uptr>(function));
    return pool_create(id, /*detached=*/false, job, argument, DURESS_CALLER_PC) == 0 ? thrd_success
                                                                                     : thrd_error;
  }
  ThreadHandle* handle = announce_thread(/*detached=*/false, reinterpret_cast<const void*>(function),
                                         argument, DURESS_CALLER_SLOT);
  if (!handle) return DURESS_REAL(thrd_create)(id, function, argument);
  handle->c11_function = function;
  handle->argument = argument;
  static_assert(thrd_success == 0);
  return create_thread(handle, /*block_signals=*/true,
                       [=] { return DURESS_REAL(thrd_create)(id, run_c11, handle); });
}

DURESS_INTERCEPTOR(void, pthread_exit, (void* value)) {
  exit_thread(value);
}

DURESS_INTERCEPTOR(void, thrd_exit, (int value)) {
  if (pooled()) pool_exit(reinterpret_cast<void*>(static_cast<long>(value)));
  prepare_exit();
  DURESS_REAL(thrd_exit)(value);
}

namespace duress {

int make_real_thread(pthread_t* id, const pthread_attr_t* attributes, void* (*function)(void*),
                     void* argument) {
  return DURESS_REAL(pthread_create)(id, attributes, function, argument);
}

void exit_thread(void* value) {
  if (pooled()) pool_exit(value);
  prepare_exit();
  DURESS_REAL(pthread_exit)(value);
  __builtin_unreachable();
}

}  // namespace duress
