// SPDX-License-Identifier: Apache-2.0
//
// Signals in controlled mode arrive at schedule points. A strand is not tied to a kernel thread, so what the
// kernel knows of threads and masks means nothing: a signal that the program sends to a thread is a note in
// its strand; one that comes from outside is caught by a handler of ours, noted, and given to a strand that
// does not block it. The handler is then called as a function where the strand passes its point. Faults are
// as always.
#include "runtime/interceptors/signals.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw.h"
#include "runtime/crash.h"
#include "runtime/interceptors/pool.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/thread_handles.h"

namespace duress {
namespace {

constexpr int kMost = kMostSignals;
constinit struct sigaction actions[kMost + 1] = {};  // what the program wants
constinit bool wrapped[kMost + 1] = {};              // our handler stands for it
constinit std::atomic<u64> from_outside{0};

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

void note_signal(int signal, siginfo_t*, void*) {
  from_outside.fetch_or(signal_bit(signal));
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
    control_settle(s->next.place);
    control_crashed(signal);
    raw_syscall(SYS_tgkill, process_number(), thread_number(), signal);
    return;
  }
  u64 before = s->signals.blocked;
  s->signals.blocked |= mask_of(&action.sa_mask) | (action.sa_flags & SA_NODEFER ? 0 : signal_bit(signal));
  if (action.sa_flags & SA_RESETHAND) actions[signal].sa_handler = SIG_DFL;
  int saved = errno;
  handler_begins(signal);
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

void send(sched::Strand* to, int signal) {
  to->signals.pending |= signal_bit(signal);
  scheduler().attend();
  if (to == controlled()) {
    deliver_signals(*to);
  } else if (!(to->signals.blocked & signal_bit(signal))) {
    end_wait(to);
  }
}

bool known(int signal) {
  return signal >= 1 && signal <= kMost;
}

}  // namespace

void deliver_signals(sched::Strand& s) {
  u64 outside = from_outside.load();
  u64 mine = outside & ~s.signals.blocked;
  from_outside.fetch_and(~mine);
  s.signals.pending |= mine;
  if (outside & ~mine) scheduler().attend();  // for another strand
  while (u64 due = s.signals.pending & ~s.signals.blocked) {
    int signal = __builtin_ctzll(due) + 1;
    s.signals.pending &= ~signal_bit(signal);
    run_handler(&s, signal);
  }
}

int take_pending_signal(u64 set) {
  sched::Strand* s = controlled();
  u64 outside = from_outside.load() & set;
  u64 due = (s->signals.pending & set) | outside;
  if (!due) return 0;
  int signal = __builtin_ctzll(due) + 1;
  s->signals.pending &= ~signal_bit(signal);
  from_outside.fetch_and(~signal_bit(signal));
  return signal;
}

bool signal_thread(int number, int signal) {
  for (sched::Strand* s = controlled() ? scheduler().strands() : nullptr; s; s = s->next_strand) {
    if (s->kernel.os_id != number || s->state == sched::Strand::State::kEnded) continue;
    if (signal != 0 && !is_fault(signal)) {
      send(s, signal);
    } else if (signal != 0) {  // whoever runs it
      number = scheduler().emulates_threads() ? thread_number() : number;
      raw_syscall(SYS_tgkill, process_number(), number, signal);
    }
    return true;
  }
  return false;
}

void control_signals_begin() {
  scheduler().set_attention(deliver_signals);
}

}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, sigaction, (int signal, const struct sigaction* action, struct sigaction* old)) {
  if (!awake() || !known(signal) || is_fault(signal)) return DURESS_REAL(sigaction)(signal, action, old);
  if (!controlled()) return install_ordered(signal, action, old, DURESS_REAL(sigaction), DURESS_CALLER_PC);
  if (action) handler_installed(signal, DURESS_CALLER_PC);
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
  if (!awake() || !known(number) || is_fault(number)) return DURESS_REAL(signal)(number, handler);
  if (!controlled()) return install_ordered(number, handler, DURESS_REAL(signal), DURESS_CALLER_PC);
  struct sigaction action = {}, old = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

DURESS_INTERCEPTOR(int, pthread_kill, (pthread_t id, int signal)) {
  sched::Strand* emulated = emulated_strand(id);
  if (emulated && emulated != controlled() && (signal == 0 || (known(signal) && is_fault(signal))))
    return signal_thread(emulated->kernel.os_id, signal) ? 0 : ESRCH;
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

DURESS_INTERCEPTOR(int, tgkill, (pid_t process, pid_t thread, int signal)) {
  bool ours = signal >= 0 && signal <= kMost && process == process_number() && signal_thread(thread, signal);
  return ours ? 0 : DURESS_REAL(tgkill)(process, thread, signal);
}

DURESS_INTERCEPTOR(int, raise, (int signal)) {
  if (!controlled() || !known(signal) || is_fault(signal)) return DURESS_REAL(raise)(signal);
  send(controlled(), signal);
  return 0;
}

DURESS_INTERCEPTOR(int, kill, (pid_t pid, int signal)) {
  bool ours = controlled() && pid == process_number() && known(signal) && !is_fault(signal);
  if (!ours) {
    if (awake()) control_sends(pid, signal);
    return DURESS_REAL(kill)(pid, signal);
  }
  control_point(OpKind::kSignal, nullptr, DURESS_CALLER_PC);
  // To any strand that does not block it: this one, else the first.
  sched::Strand* to = controlled();
  for (sched::Strand* s = scheduler().strands(); s && (to->signals.blocked & signal_bit(signal));
       s = s->next_strand) {
    if (s->state != sched::Strand::State::kEnded) to = s;
  }
  send(to, signal);
  return 0;
}
