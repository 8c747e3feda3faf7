// SPDX-License-Identifier: Apache-2.0
//
// Cancellation of threads in controlled mode: a flag that the strand finds at its next cancellation point.
#include <errno.h>
#include <pthread.h>

#include "runtime/control.h"
#include "runtime/interceptors/pool.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/thread_handles.h"

namespace duress {
namespace {

void cancel_strand(sched::Strand* strand, uptr pc) {
  control_point(OpKind::kSignal, strand, pc);
  if (scheduler().is_systematic()) scheduler().step_log().limits |= exhaustive::StepLog::kCancelled;
  if (strand->state == sched::Strand::State::kEnded) return;
  strand->cancelled = true;
  switch (strand->next.kind) {
    case OpKind::kWait:
    case OpKind::kSleep:
    case OpKind::kJoin:
    case OpKind::kAcquire:
    case OpKind::kSystem:
      scheduler().interrupt(strand);
      scheduler().changed();
      break;
    default:
      break;
  }
}

}  // namespace

void control_cancellation_point() {
  sched::Strand* strand = controlled();
  if (!strand || !strand->cancelled) return;
  strand->caller_frame = 0;  // handlers run next, and the call that waited does not return
  int state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  pthread_setcancelstate(state, nullptr);
  if (state == PTHREAD_CANCEL_DISABLE) return;
  strand->cancelled = false;
  exit_thread(PTHREAD_CANCELED);
}

}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, pthread_cancel, (pthread_t id)) {
  ThreadHandle* handle = controlled() && !pooled() ? find_handle(id) : nullptr;
  sched::Strand* strand = pooled() ? pool_find(id) : handle ? handle->strand : nullptr;
  if (!handle && !strand) return pooled() ? ESRCH : DURESS_REAL(pthread_cancel)(id);
  if (strand) cancel_strand(strand, DURESS_CALLER_PC);
  if (handle) drop_handle(handle);
  return strand ? 0 : DURESS_REAL(pthread_cancel)(id);
}

DURESS_INTERCEPTOR(void, pthread_testcancel, ()) {
  if (controlled()) control_cancellation_point();
  DURESS_REAL(pthread_testcancel)();
}
