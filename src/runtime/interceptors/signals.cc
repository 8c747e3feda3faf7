// SPDX-License-Identifier: Apache-2.0
//
// Signals in controlled mode arrive at schedule points. A strand is not tied to a kernel thread, so what the
// kernel knows of threads and masks means nothing: a signal that the program sends to a thread is a note in
// its strand; one that comes from outside is caught by a handler of ours, noted, and given to a strand that
// does not block it. The handler is then called as a function where the strand passes its point. Faults are
// as always.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw.h"
#include "runtime/control.h"
#include "runtime/interceptors/pool.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/thread_handles.h"

namespace duress {
namespace {

constexpr int kMost = 64;
constinit struct sigaction actions[kMost + 1] = {};  // what the program wants
constinit bool wrapped[kMost + 1] = {};              // our handler stands for it
constinit std::atomic<u64> from_outside{0};

u64 bit(int signal) {
  return u64{1} << (signal - 1);
}

bool is_fault(int signal) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGSYS:
    case SIGKILL:
    case SIGSTOP:
      return true;
    default:
      return false;
  }
}

u64 mask_of(const sigset_t* set) {
  u64 mask;
  memcpy(&mask, set, sizeof mask);
  return mask;
}

void note_signal(int signal, siginfo_t*, void*) {
  from_outside.fetch_or(bit(signal));
  if (g_scheduler) scheduler().attend();
}

/// Wakes a strand that waits where a signal would end the wait.
void end_wait(sched::Strand* s) {
  if (s->next.kind == OpKind::kSleep || s->next.kind == OpKind::kSystem || s->next.kind == OpKind::kAcquire) {
    scheduler().interrupt(s);
    scheduler().changed();
  }
}

void run_handler(sched::Strand* s, int signal) {
  struct sigaction action = {};
  if (wrapped[signal]) {
    action = actions[signal];
  } else {
    action.sa_handler = SIG_DFL;
  }
  if (action.sa_handler == SIG_IGN) return;
  if (action.sa_handler == SIG_DFL) {
    switch (signal) {
      case SIGCHLD:
      case SIGCONT:
      case SIGURG:
      case SIGWINCH:
        return;
      default:
        break;
    }
    control_crashed();
    raw_syscall(SYS_tgkill, process_number(), thread_number(), signal);
    return;
  }
  u64 before = s->signals.blocked;
  s->signals.blocked |= mask_of(&action.sa_mask) | (action.sa_flags & SA_NODEFER ? 0 : bit(signal));
  if (action.sa_flags & SA_RESETHAND) actions[signal].sa_handler = SIG_DFL;
  int saved = errno;
  if (action.sa_flags & SA_SIGINFO) {
    siginfo_t info = {};
    info.si_signo = signal;
    info.si_code = SI_TKILL;
    info.si_pid = process_number();
    ucontext_t context = {};
    action.sa_sigaction(signal, &info, &context);
  } else {
    action.sa_handler(signal);
  }
  errno = saved;
  s->signals.blocked = before;
}

/// Called by the scheduler when the running strand has passed a point and something is pending.
void deliver(sched::Strand& s) {
  u64 outside = from_outside.load();
  u64 mine = outside & ~s.signals.blocked;
  from_outside.fetch_and(~mine);
  s.signals.pending |= mine;
  if (outside & ~mine) scheduler().attend();  // for another strand
  while (u64 due = s.signals.pending & ~s.signals.blocked) {
    int signal = __builtin_ctzll(due) + 1;
    s.signals.pending &= ~bit(signal);
    run_handler(&s, signal);
  }
}

void send(sched::Strand* to, int signal) {
  to->signals.pending |= bit(signal);
  scheduler().attend();
  if (to == controlled()) {
    deliver(*to);
  } else if (!(to->signals.blocked & bit(signal))) {
    end_wait(to);
  }
}

bool known(int signal) {
  return signal >= 1 && signal <= kMost;
}

/// The first of `set` that is pending for the running strand, taken; 0 if there is none.
int take_pending(u64 set) {
  sched::Strand* s = controlled();
  u64 outside = from_outside.load() & set;
  u64 due = (s->signals.pending & set) | outside;
  if (!due) return 0;
  int signal = __builtin_ctzll(due) + 1;
  s->signals.pending &= ~bit(signal);
  from_outside.fetch_and(~bit(signal));
  return signal;
}

/// Waits until a signal comes that `wanted` takes (0: any that is handled). 0: out of time.
int await_signal(u64 set, uptr pc, u64 deadline) {
  sched::Strand* s = controlled();
  Operation operation = {OpKind::kSystem, 0, address_of(&s->signals.pending), 0, pc};
  scheduler().point(operation);
  control_cancellation_point();
  for (;;) {
    if (int signal = take_pending(set)) return signal;
    auto wake = scheduler().block(operation, operation.object, deadline);
    control_cancellation_point();
    if (wake == sched::Wake::kTimeout) return 0;
  }
}

}  // namespace

void control_signals_begin() {
  scheduler().set_attention(deliver);
}

}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, sigaction, (int signal, const struct sigaction* action, struct sigaction* old)) {
  if (!controlled() || !known(signal) || is_fault(signal)) return DURESS_REAL(sigaction)(signal, action, old);
  struct sigaction before = {};
  if (wrapped[signal]) {
    before = actions[signal];
  } else {
    DURESS_REAL(sigaction)(signal, nullptr, &before);
  }
  if (action) {
    actions[signal] = *action;
    wrapped[signal] = true;
    struct sigaction ours = *action;
    if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
      ours.sa_sigaction = note_signal;
      ours.sa_flags = SA_SIGINFO | SA_RESTART | (action->sa_flags & SA_NOCLDSTOP);
    }
    int result = DURESS_REAL(sigaction)(signal, &ours, nullptr);
    if (result != 0) return result;
  }
  if (old) *old = before;
  return 0;
}

DURESS_INTERCEPTOR(sighandler_t, signal, (int number, sighandler_t handler)) {
  if (!controlled() || !known(number) || is_fault(number)) return DURESS_REAL(signal)(number, handler);
  struct sigaction action = {}, old = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

DURESS_INTERCEPTOR(int, pthread_kill, (pthread_t id, int signal)) {
  if (!controlled() || !known(signal) || is_fault(signal)) return DURESS_REAL(pthread_kill)(id, signal);
  control_point(OpKind::kSignal, nullptr, DURESS_CALLER_PC);
  sched::Strand* to = nullptr;
  if (pthread_equal(id, pthread_self())) {
    to = controlled();
  } else if (pooled()) {
    to = pool_find(id);
  } else if (ThreadHandle* handle = find_handle(id)) {
    to = handle->strand;
    drop_handle(handle);
  } else {
    to = scheduler().strands();  // the main thread has no handle
  }
  if (!to || to->state == sched::Strand::State::kEnded) return ESRCH;
  send(to, signal);
  return 0;
}

DURESS_INTERCEPTOR(int, raise, (int signal)) {
  if (!controlled() || !known(signal) || is_fault(signal)) return DURESS_REAL(raise)(signal);
  send(controlled(), signal);
  return 0;
}

DURESS_INTERCEPTOR(int, kill, (pid_t pid, int signal)) {
  bool ours = controlled() && pid == process_number() && known(signal) && !is_fault(signal);
  if (!ours) return DURESS_REAL(kill)(pid, signal);
  control_point(OpKind::kSignal, nullptr, DURESS_CALLER_PC);
  // To any strand that does not block it: this one, else the first.
  sched::Strand* to = controlled();
  for (sched::Strand* s = scheduler().strands(); s && (to->signals.blocked & bit(signal));
       s = s->next_strand) {
    if (s->state != sched::Strand::State::kEnded) to = s;
  }
  send(to, signal);
  return 0;
}

static int change_mask(int how, const sigset_t* set, sigset_t* old) {
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
    if (s->signals.pending & ~s->signals.blocked) deliver(*s);
  }
  if (old) {
    sigemptyset(old);
    memcpy(old, &before, sizeof before);
  }
  return 0;
}

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
  *signal = await_signal(mask_of(set), DURESS_CALLER_PC, sched::kNever);
  return 0;
}

DURESS_INTERCEPTOR(int, sigwaitinfo, (const sigset_t* set, siginfo_t* info)) {
  if (!controlled()) return DURESS_REAL(sigwaitinfo)(set, info);
  int signal = await_signal(mask_of(set), DURESS_CALLER_PC, sched::kNever);
  if (info) {
    *info = {};
    info->si_signo = signal;
  }
  return signal;
}

DURESS_INTERCEPTOR(int, sigtimedwait, (const sigset_t* set, siginfo_t* info, const timespec* timeout)) {
  if (!controlled() || !valid_time(timeout)) return DURESS_REAL(sigtimedwait)(set, info, timeout);
  int signal = await_signal(mask_of(set), DURESS_CALLER_PC, control_timeout(timeout));
  if (!signal) {
    errno = EAGAIN;
    return -1;
  }
  if (info) {
    *info = {};
    info->si_signo = signal;
  }
  return signal;
}

/// Until a handler has run: the wait ends with the interruption, the handler runs where the strand goes on.
static int pause_strand(uptr pc) {
  sched::Strand* s = controlled();
  Operation operation = {OpKind::kSystem, 0, address_of(&s->signals.pending), 0, pc};
  control_cancellation_point();
  if (!(s->signals.pending & ~s->signals.blocked)) scheduler().block(operation, operation.object);
  control_cancellation_point();
  deliver(*s);
  errno = EINTR;
  return -1;
}

DURESS_INTERCEPTOR(int, pause, ()) {
  return controlled() ? pause_strand(DURESS_CALLER_PC) : DURESS_REAL(pause)();
}

DURESS_INTERCEPTOR(int, sigsuspend, (const sigset_t* mask)) {
  sched::Strand* s = controlled();
  if (!s) return DURESS_REAL(sigsuspend)(mask);
  u64 before = s->signals.blocked;
  s->signals.blocked = mask_of(mask);
  int result = pause_strand(DURESS_CALLER_PC);
  s->signals.blocked = before;
  return result;
}
