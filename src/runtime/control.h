// SPDX-License-Identifier: Apache-2.0
//
// Controlled mode as interceptors and hooks see it. `controlled()` is null in free-running mode, in threads
// that the scheduler does not know, and while the calling thread is inside the scheduler; then an interceptor
// makes its real call. Otherwise it comes to a schedule point and blocks, if it must, in the scheduler.
#pragma once

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "sched/scheduler.h"

struct DuressSite;

namespace duress {

extern thread_local sched::Strand* t_strand __attribute__((tls_model("initial-exec")));
extern sched::Scheduler* g_scheduler;

inline sched::Strand* controlled() {
  return t_strand;
}
/// The runtime itself calls libraries that lock (the unwinder, the loader): no strand may block there.
class Uncontrolled {
 public:
  Uncontrolled() : strand_(t_strand) { t_strand = nullptr; }
  ~Uncontrolled() { t_strand = strand_; }
  Uncontrolled(const Uncontrolled&) = delete;
  Uncontrolled& operator=(const Uncontrolled&) = delete;

 private:
  sched::Strand* strand_;
};

inline sched::Scheduler& scheduler() {
  return *g_scheduler;
}
inline uptr address_of(const volatile void* object) {
  return reinterpret_cast<uptr>(object);
}

// ---- the execution (control.cc, fork_server.cc)
// ------------------------------------------------------------------------------
/// Whether another process performs the execution of that record already: a program that the target started
/// runs uncontrolled.
bool control_taken(const char* record);
/// Maps request and record as the options say. Called once when the runtime starts.
void control_prepare();
/// The calling thread becomes strand 0. Called before main, or in a fork server's child.
void control_begin();
/// This process is a fork server; `option` is IN,OUT[,PROCESSOR].
void fork_server_prepare(const char* option);
/// Where a fork server waits for requests: before main, or at the first thread. Returns in each child.
void control_fork_point();
/// Every execution reads all of standard input.
void control_rewind_input();
/// The process ends without a crash.
void control_ended();
/// The calling thread is about to end the process, by a crash or not: other threads may have to validate
/// predictions of the memory model first, and in systematic executions go as far as they can. REQUIRES:
/// called before everything else that is done then.
void control_settle(uptr place);
/// The process is about to die of a signal.
void control_crashed(int signal);
void control_after_fork_in_child();
/// The program has started another process, which is not controlled.
void control_child_made();
bool control_has_children();
/// Sets the calling strand's inline state where nothing is detected: every inline check passes, frames have
/// room.
void control_enter_strand();
void control_leave_strand();
/// In signal_delivery.cc.
void control_signals_begin();
/// In program_timers.cc: a forked child has none of its parent's timers.
void control_forget_timers();
/// In processors.cc: one strand runs at a time, and one processor is enough.
void control_processor_begin();
/// A fork server and all its executions stay on the processor with that number among the allowed ones.
/// Without it, executions are so short that all of them may start on one processor while another is idle.
void control_server_processor(unsigned index);
/// In random.cc: random numbers that the program gets from the system come from this seed.
void control_random_begin(u64 seed);

/// Whether the execution that is requested follows happens-before.
bool control_uses_clocks();
/// What the execution reports.
trail::Record* control_record();
/// What it performs, and where a systematic one writes its steps.
const trail::Request* control_request();
/// The same in the processes of a fork server, which may put another one there (rollback_ahead.h).
trail::Request* control_own_request();
exhaustive::StepLog* control_step_log();
/// Another request and record (duress::check).
void control_attach(const trail::Request* request, trail::Record* record);
/// Plain accesses may be steps of a systematic execution, which compares local states there: hooks note their
/// caller.
extern bool g_note_caller;
/// False: plain accesses are not observed, the hooks of faithful bodies only perform them.
extern bool g_observe_plain;
/// Called for every plain access of a strand before it is decided whether it is a point; null: nothing.
extern void (*g_learn_access)(const void* p, u64 size, bool write, const DuressSite* site);
/// The same of atomic operations and of blocks that are freed; of accesses by library functions, whose site
/// is null, too.
extern void (*g_learn_atomic)(const void* p, u64 size, bool write);
extern void (*g_learn_freed)(void* p);

// ---- accesses (hooks; control_access.cc)
// ------------------------------------------------------------------------------------------
/// A schedule point before a plain access, if its site is one.
bool control_access(const void* p, u64 size, bool write, const DuressSite* site);
/// A schedule point before a block is freed.
void control_free(void* p, uptr caller);
/// A schedule point before an atomic operation.
void control_atomic(const void* p, u64 size, OpKind kind, const DuressSite* site);
/// The same of a compare-and-swap.
void control_compare(const void* p, u64 size, u64 expected, const DuressSite* site);
/// After an operation at a point: whether it changed memory.
void control_done(bool changed);
extern void (*g_trace_value)(u64 value, u32 size);  // null: steps are not traced
/// Called after a plain load, and before a plain store, of a strand that is no step; null: nothing.
extern void (*g_trace_plain)(const void* p, u32 size, bool write, u64 value, const DuressSite* site);
/// The value that is traced next is stale; memory holds `newest`.
void control_trace_stale(u64 newest);
/// Whether the last traced value was stale; resets that.
bool control_take_stale(u64* newest);
inline void control_trace_value(u64 value, u32 size) {
  if (DURESS_UNLIKELY(g_trace_value != nullptr)) g_trace_value(value, size);
}

// ---- blocking (control_time.cc)
// --------------------------------------------------------------------------------------------------
/// The virtual time at which a deadline passes. kNever for null.
u64 control_deadline(clockid_t clock, const timespec* until);
u64 control_timeout(const timespec* duration);
/// What a clock showed at virtual time 0.
u64 control_clock_start(clockid_t clock);
/// Whether the C library accepts the timespec.
inline bool valid_time(const timespec* t) {
  return !t || (t->tv_nsec >= 0 && t->tv_nsec < 1'000'000'000);
}

/// If a cancellation is due, the thread ends here.
void control_cancellation_point();

/// Whether the handler of a signal has run that ends the call which it interrupts. `handlers`: as many had
/// run before the call.
inline bool control_interrupted(u32 handlers, bool restarts) {
  const sched::SignalState& signals = controlled()->signals;
  return signals.handlers != handlers && !(restarts && signals.restart);
}

/// A wait with a deadline where timeouts are explored: it is tried once.
template <typename Attempt>
int control_try(Operation operation, u64 deadline, Attempt attempt) {
  operation.kind = operation.kind == OpKind::kReadLock  ? OpKind::kTryReadLock
                   : operation.kind == OpKind::kAcquire ? OpKind::kTryAcquire
                                                        : OpKind::kTryLock;
  scheduler().point(operation);
  int result = attempt();
  bool late = result == EBUSY || result == EAGAIN;
  scheduler().tried(operation.place, deadline, !late);
  return late ? ETIMEDOUT : result;
}

/// A point; then `attempt` until it does not say EBUSY or EAGAIN, waiting in the object's queue in between.
template <typename Attempt>
int control_acquire(OpKind kind, const volatile void* object, uptr pc, u64 deadline, Attempt attempt,
                    u32 size = 0) {
  Operation operation = {kind, size, address_of(object), 0, pc};
  if (DURESS_UNLIKELY(scheduler().tries_instead(pc, deadline)))
    return control_try(operation, deadline, attempt);
  scheduler().point(operation);
  u32 handlers = controlled()->signals.handlers;
  for (;;) {
    int result = attempt();
    if (result != EBUSY && result != EAGAIN) return result;
    if (kind == OpKind::kAcquire) control_cancellation_point();  // sem_wait
    if (scheduler().block(operation, operation.object, deadline) == sched::Wake::kTimeout) return ETIMEDOUT;
    if (kind == OpKind::kAcquire && control_interrupted(handlers, /*restarts=*/deadline == sched::kNever))
      return EINTR;
  }
}

/// The same for an exclusive lock, whose holder the scheduler knows.
template <typename Attempt>
int control_lock(const volatile void* lock, bool reentrant, uptr pc, u64 deadline, Attempt attempt) {
  Operation operation = {OpKind::kLock, 0, address_of(lock), 0, pc};
  if (DURESS_UNLIKELY(scheduler().tries_instead(pc, deadline))) {
    int result = control_try(operation, deadline, attempt);
    if (result == 0 || result == EOWNERDEAD) scheduler().lock_taken(operation.object);
    return result;
  }
  for (bool first = true;; first = false) {
    // Its holder locked it unseen by the scheduler: wait for the unlock, which the scheduler will see.
    bool in_time = first || scheduler().holder_of(operation.object)
                       ? scheduler().approach_lock(operation, reentrant, deadline)
                       : scheduler().block(operation, operation.object, deadline) != sched::Wake::kTimeout;
    if (!in_time) return ETIMEDOUT;
    int result = attempt();
    if (result == EBUSY) continue;
    if (result == 0 || result == EOWNERDEAD) scheduler().lock_taken(operation.object);
    if (deadline != sched::kNever) scheduler().tried(pc, deadline, true);
    return result;
  }
}

inline void control_point(OpKind kind, const volatile void* object, uptr pc, u32 size = 0) {
  scheduler().point({kind, size, address_of(object), 0, pc});
}
/// The size in operations on read-write locks.
inline constexpr u32 kReadWriteLock = 1;
/// The state of a semaphore or of such a lock, for systematic executions.
u64 control_state(const Operation& operation);
/// A hash of the running strand's local state: registers and stack of the program's code.
u64 control_local_state(const sched::Strand& strand);
/// Return address of the hook that runs.
extern thread_local uptr t_hook_caller __attribute__((tls_model("initial-exec")));

/// Before a call that could block on a descriptor: waits in the scheduler until it would not. False: a signal
/// has ended the call; errno says so.
bool control_await_descriptor(int fd, short events, uptr pc);
/// The deadline of a timeout in milliseconds; none if it is negative.
u64 control_deadline_in(i64 milliseconds);
bool control_await_epoll(int set, u64 deadline, uptr pc, const sigset_t* mask);

}  // namespace duress
