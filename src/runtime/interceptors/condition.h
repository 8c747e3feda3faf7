// SPDX-License-Identifier: Apache-2.0
//
// A wait on a condition, POSIX or C11: gives the mutex up, waits, takes the mutex again. Whatever ends the
// wait, a signal, a timeout or a cancellation, the mutex is held afterwards, and the runtime must know it.
#ifndef DURESS_RUNTIME_INTERCEPTORS_CONDITION_H_
#define DURESS_RUNTIME_INTERCEPTORS_CONDITION_H_

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
  sync_wait_end(is_locked(result) ? condition : nullptr, mutex, pc);
  return result;
}

}  // namespace duress

#endif  // DURESS_RUNTIME_INTERCEPTORS_CONDITION_H_
