// SPDX-License-Identifier: Apache-2.0
//
// Signals in controlled mode arrive at schedule points. A strand is not tied to a kernel thread, so what the
// kernel knows of threads and masks means nothing: a signal that the program sends to a thread is a note in
// its strand; one that comes from outside is caught by a handler of ours, noted, and given to a strand that
// does not block it. The handler is then called as a function where the strand passes its point, or, if it
// waits, in a visit (sched/visits.cc). Faults are as always.
//
// Here is who gets a signal, and its handler. The functions that send one are in signals.cc.
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw.h"
#include "runtime/crash.h"
#include "runtime/interceptors/program_timers.h"
#include "runtime/interceptors/real.h"
#include "runtime/interceptors/signals.h"
#include "runtime/preemption.h"

namespace duress {
namespace {

constexpr int kMost = kMostSignals;
constinit struct sigaction actions[kMost + 1] = {};  // what the program wants
constinit bool wrapped[kMost + 1] = {};              // our handler stands for it
constinit std::atomic<u64> of_process{0};            // pending, for whoever does not block it

void note_signal(int signal, siginfo_t*, void*) {
  of_process.fetch_or(signal_bit(signal));
  if (g_scheduler) scheduler().attend();
}

struct sigaction action_of(int signal) {
  if (wrapped[signal]) return actions[signal];
  struct sigaction action = {};
  if (signal != kPreemptionSignal) sigaction_of_kernel(signal, nullptr, &action);
  return action;
}

bool is_ignored_by_default(int signal) {
  return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

bool is_ignored(int signal) {
  sighandler_t handler = action_of(signal).sa_handler;
  return handler == SIG_IGN || (handler == SIG_DFL && is_ignored_by_default(signal));
}

void die_of(int signal) {
  if (const sched::Strand* s = controlled()) control_settle(s->next.place);
  control_crashed(signal);
  raw_syscall(SYS_tgkill, process_number(), thread_number(), signal);
}

void call_handler(const struct sigaction& action, int signal, siginfo_t* info) {
  if (action.sa_flags & SA_SIGINFO) {
    ucontext_t context = {};
    action.sa_sigaction(signal, info, &context);
  } else {
    action.sa_handler(signal);
  }
}

void run_handler(sched::Strand* s, int signal) {
  siginfo_t info = info_of(signal);
  if (program_timer_sent(signal, &info)) s->signals.pending |= signal_bit(signal);  // another timer too
  struct sigaction action = action_of(signal);
  if (is_ignored(signal)) return;
  if (action.sa_handler == SIG_DFL) return die_of(signal);
  u64 before = s->signals.blocked;
  s->signals.blocked |= mask_of(&action.sa_mask) | (action.sa_flags & SA_NODEFER ? 0 : signal_bit(signal));
  if (action.sa_flags & SA_RESETHAND) actions[signal].sa_handler = SIG_DFL;
  int saved = errno;
  handler_begins(signal);
  call_handler(action, signal, &info);
  errno = saved;
  s->signals.blocked = before;
  s->signals.restart = (action.sa_flags & SA_RESTART) != 0;
  ++s->signals.handlers;
}

/// Wakes a strand where a signal would: in a call that it ends, or for the handler alone.
void end_wait(sched::Strand* s) {
  switch (s->next.kind) {
    case OpKind::kSleep:
    case OpKind::kSystem:
    case OpKind::kAcquire:
      scheduler().interrupt(s);
      break;
    default:
      scheduler().visit(s);
      break;
  }
  scheduler().changed();
}

bool takes(const sched::Strand* s, int signal) {
  return s->state != sched::Strand::State::kEnded &&
         ((~s->signals.blocked | s->signals.awaited) & signal_bit(signal)) != 0;
}

}  // namespace

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

siginfo_t info_of(int signal) {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = SI_TKILL;
  info.si_pid = process_number();
  return info;
}

bool kills(int signal) {
  return action_of(signal).sa_handler == SIG_DFL && !is_ignored_by_default(signal);
}

void note_for_strand(sched::Strand* to, int signal) {
  if (is_ignored(signal) && !(to->signals.blocked & signal_bit(signal))) return;
  to->signals.pending |= signal_bit(signal);
  scheduler().attend();
  if (takes(to, signal)) end_wait(to);
}

void send_to_strand(sched::Strand* to, int signal) {
  if (to != controlled()) return note_for_strand(to, signal);
  to->signals.pending |= signal_bit(signal);
  scheduler().attend();
  deliver_signals(*to);
}

/// One that waits for it; else the kernel prefers the main thread; if all block it, it stays pending, or a
/// descriptor takes it.
void note_for_process(int signal) {
  sched::Strand* to = nullptr;
  for (sched::Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (takes(s, signal) && (!to || (s->signals.awaited & signal_bit(signal) && !to->signals.awaited)))
      to = s;
  }
  if (to) return note_for_strand(to, signal);
  if (signal_descriptor_takes(signal)) return scheduler().changed();
  of_process.fetch_or(signal_bit(signal));
}

void deliver_signals(sched::Strand& s) {
  u64 outside = of_process.load();
  u64 mine = outside & ~s.signals.blocked;
  of_process.fetch_and(~mine);
  s.signals.pending |= mine;
  if (outside & ~mine) scheduler().attend();  // for another strand
  while (u64 due = s.signals.pending & ~s.signals.blocked) {
    int signal = __builtin_ctzll(due) + 1;
    s.signals.pending &= ~signal_bit(signal);
    run_handler(&s, signal);
  }
}

/// Signals from outside, while no strand runs that could take them.
static void route_signals() {
  for (u64 left = of_process.exchange(0); left; left &= left - 1) note_for_process(__builtin_ctzll(left) + 1);
}

u64 pending_signals(const sched::Strand& s) {
  return s.signals.pending | of_process.load();
}

int take_pending_signal(u64 set, siginfo_t* info) {
  sched::Strand* s = controlled();
  u64 due = pending_signals(*s) & set;
  if (!due) return 0;
  int signal = __builtin_ctzll(due) + 1;
  s->signals.pending &= ~signal_bit(signal);
  of_process.fetch_and(~signal_bit(signal));
  *info = info_of(signal);
  if (program_timer_sent(signal, info)) s->signals.pending |= signal_bit(signal);
  return signal;
}

int set_controlled_action(int signal, const struct sigaction* action, struct sigaction* old) {
  struct sigaction before = action_of(signal);
  if (action) {
    actions[signal] = *action;
    wrapped[signal] = true;
    struct sigaction ours = *action;
    if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
      ours.sa_sigaction = note_signal;
      ours.sa_flags = SA_SIGINFO | SA_RESTART | (action->sa_flags & SA_NOCLDSTOP);
    }
    int result = signal == kPreemptionSignal ? 0 : sigaction_of_kernel(signal, &ours, nullptr);
    if (result != 0) return result;
  }
  if (old) *old = before;
  return 0;
}

void control_signals_begin() {
  scheduler().set_attention(deliver_signals, route_signals);
}

}  // namespace duress
