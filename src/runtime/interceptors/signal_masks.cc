// SPDX-License-Identifier: Apache-2.0
//
// Masks of signals, and waits for them, in controlled mode. See signals.cc.
#include <errno.h>
#include <unistd.h>

#include "runtime/interceptors/real.h"
#include "runtime/interceptors/signals.h"

namespace duress {
namespace {

/// Waits for a signal of `set`. 0: out of time; -EINTR: the handler of another one has run.
int await_signal(u64 set, siginfo_t* info, uptr pc, u64 deadline) {
  sched::Strand* s = controlled();
  Operation operation = {OpKind::kSystem, 0, address_of(&s->signals.pending), 0, pc};
  scheduler().point(operation);
  control_cancellation_point();
  siginfo_t unused;
  u32 handlers = s->signals.handlers;
  for (;;) {
    if (int signal = take_pending_signal(set, info ? info : &unused)) return signal;
    if (s->signals.handlers != handlers) return -EINTR;
    s->signals.awaited = set;
    auto wake = scheduler().block(operation, operation.object, deadline);
    s->signals.awaited = 0;
    control_cancellation_point();
    if (wake == sched::Wake::kTimeout) return 0;
  }
}

int change_mask(int how, const sigset_t* set, sigset_t* old) {
  sched::Strand* s = controlled();
  u64 before = s->signals.blocked;
  if (set) {
    u64 mask = mask_of(set);
    switch (how) {
      case SIG_BLOCK:
        s->signals.blocked |= mask;
        break;
      case SIG_UNBLOCK:
        s->signals.blocked &= ~mask;
        break;
      case SIG_SETMASK:
        s->signals.blocked = mask;
        break;
      default:
        return EINVAL;
    }
    if (pending_signals(*s) & ~s->signals.blocked) deliver_signals(*s);
  }
  if (old) {
    sigemptyset(old);
    memcpy(old, &before, sizeof before);
  }
  return 0;
}

}  // namespace
}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* old)) {
  return controlled() ? change_mask(how, set, old) : DURESS_REAL(pthread_sigmask)(how, set, old);
}

DURESS_INTERCEPTOR(int, sigprocmask, (int how, const sigset_t* set, sigset_t* old)) {
  if (!controlled()) return DURESS_REAL(sigprocmask)(how, set, old);
  int error = change_mask(how, set, old);
  if (error) errno = error;
  return error ? -1 : 0;
}

DURESS_INTERCEPTOR(int, sigwait, (const sigset_t* set, int* signal)) {
  if (!controlled()) return DURESS_REAL(sigwait)(set, signal);
  do {
    *signal = await_signal(mask_of(set), nullptr, DURESS_CALLER_PC, sched::kNever);
  } while (*signal < 0);
  return 0;
}

DURESS_INTERCEPTOR(int, sigwaitinfo, (const sigset_t* set, siginfo_t* info)) {
  if (!controlled()) return DURESS_REAL(sigwaitinfo)(set, info);
  int signal = await_signal(mask_of(set), info, DURESS_CALLER_PC, sched::kNever);
  if (signal > 0) return signal;
  errno = EINTR;
  return -1;
}

DURESS_INTERCEPTOR(int, sigtimedwait, (const sigset_t* set, siginfo_t* info, const timespec* timeout)) {
  if (!controlled() || !valid_time(timeout)) return DURESS_REAL(sigtimedwait)(set, info, timeout);
  int signal = await_signal(mask_of(set), info, DURESS_CALLER_PC, control_timeout(timeout));
  if (signal > 0) return signal;
  errno = signal == 0 ? EAGAIN : EINTR;
  return -1;
}

/// Until a handler has run: the wait ends with the interruption, the handler runs where the strand goes on.
static int pause_strand(uptr pc) {
  sched::Strand* s = controlled();
  Operation operation = {OpKind::kSystem, 0, address_of(&s->signals.pending), 0, pc};
  control_cancellation_point();
  u32 handlers = s->signals.handlers;
  deliver_signals(*s);
  while (s->signals.handlers == handlers) {
    scheduler().block(operation, operation.object);
    control_cancellation_point();
  }
  errno = EINTR;
  return -1;
}

DURESS_INTERCEPTOR(int, pause, ()) {
  if (!controlled()) return DURESS_REAL(pause)();
  control_point(OpKind::kSystem, nullptr, DURESS_CALLER_PC);  // what comes here does not end it
  return pause_strand(DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, sigsuspend, (const sigset_t* mask)) {
  sched::Strand* s = controlled();
  if (!s) return DURESS_REAL(sigsuspend)(mask);
  control_point(OpKind::kSystem, nullptr, DURESS_CALLER_PC);
  u64 before = s->signals.blocked;
  s->signals.blocked = mask_of(mask);
  int result = pause_strand(DURESS_CALLER_PC);
  s->signals.blocked = before;
  if (pending_signals(*s) & ~before) deliver_signals(*s);
  errno = EINTR;
  return result;
}

DURESS_INTERCEPTOR(int, sigpending, (sigset_t * set)) {
  sched::Strand* s = controlled();
  if (!s) return DURESS_REAL(sigpending)(set);
  u64 pending = pending_signals(*s) & s->signals.blocked;
  sigemptyset(set);
  memcpy(set, &pending, sizeof pending);
  return 0;
}
