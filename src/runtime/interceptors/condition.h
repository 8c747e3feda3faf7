// SPDX-License-Identifier: Apache-2.0
//
// A wait on a condition, POSIX or C11: gives the mutex up, waits, takes the mutex again. Whatever ends the
// wait, a signal, a timeout or a cancellation, the mutex is held afterwards, and the runtime must know it.
#pragma once

#include "runtime/interceptors/mutex.h"

namespace duress {

/// Runs `wait`, a callable that makes the real call and returns its result: 0 if a signal
/// ended it (EOWNERDEAD: and the mutex had lost its owner).
template <typename Wait>
int wait_on_condition(const void* condition, const void* mutex, uptr pc, Wait wait) {
  // Without owning the mutex the wait is refused, or undefined: it gives nothing up.
  if (!awake() || refuses_unlock(static_cast<const pthread_mutex_t*>(mutex))) return wait();
  struct Frame {
    const void* condition;
    const void* mutex;
    uptr pc;
    Wait* wait;
  } frame = {condition, mutex, pc, &wait};
  sync_wait_begin(condition, mutex, pc);
  int result = duress_with_cleanup([](void* data) { return (*static_cast<Frame*>(data)->wait)(); },
                                   [](void* data) {  // cancelled
                                     auto* f = static_cast<Frame*>(data);
                                     sync_wait_end(nullptr, f->mutex, f->pc);
                                   },
                                   &frame);
  bool signalled = is_locked(result) && !(controlled() && controlled()->outcomes.by_itself);
  sync_wait_end(signalled ? condition : nullptr, mutex, pc);
  return result;
}

/// The wait of a strand, between sync_wait_begin and sync_wait_end. `unlock` and `attempt` are the real
/// calls.
template <typename Unlock, typename Attempt>
int wait_controlled(const void* condition, pthread_mutex_t* mutex, uptr pc, u64 deadline, Unlock unlock,
                    Attempt attempt) {
  sched::Strand* self = controlled();
  Operation operation = {OpKind::kWait, 0, address_of(condition), 0, pc, 0, 0, address_of(mutex)};
  using sched::Wake, sched::WaitEnd;
  WaitEnd end = scheduler().choose_end(operation, /*may_be_spurious=*/true, deadline);
  scheduler().point(operation);
  control_cancellation_point();  // after the point: from here to the wait nobody else runs
  if (!scheduler().is_systematic() && scheduler().choose(sched::ValueKind::kSpurious, 2))
    end = WaitEnd::kSpurious;
  unlock();
  unlocked_controlled(mutex);
  self->wait.relock = address_of(mutex);
  Wake wake = end == WaitEnd::kTimeout ? Wake::kTimeout : Wake::kWoken;
  if (end == WaitEnd::kWoken) wake = scheduler().block(operation, operation.object, deadline);
  self->wait.relock = 0;
  scheduler().wait_ended(pc, wake == Wake::kTimeout ? WaitEnd::kTimeout : end, deadline);
  int result = control_lock(mutex, /*reentrant=*/false, pc, sched::kNever, attempt);
  if (wake == Wake::kInterrupted) control_cancellation_point();
  return result == 0 && wake == Wake::kTimeout ? ETIMEDOUT : result;
}

inline void signal_controlled(const void* condition, u32 most) {
  scheduler().wake(address_of(condition), most);
}

/// Which clock a condition's deadlines are of: a bit that pthread_condattr_setclock leaves in it.
inline clockid_t clock_of(const pthread_cond_t* condition) {
  return condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

}  // namespace duress
