// SPDX-License-Identifier: Apache-2.0
#include "runtime/crash.h"

#include <signal.h>
#include <ucontext.h>

#include "runtime/control.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"

namespace duress {

/// The calls that led to `pc`, without it: the reporter puts it in front.
static StackId unwound(Runtime& rt, uptr pc) {
  constexpr int kMost = 128;
  uptr frames[kMost];
  int count = unwind_stack(frames, kMost, pc);
  StackId stack{0};
  bool reached = count > 0 && frames[0] == pc;
  for (int i = count; i-- > (reached ? 1 : 0);) stack = rt.stacks.push(stack, frames[i]);
  return stack;
}

static void on_crash(int signal, siginfo_t* info, void* context) {
  // On the strand's own stack, so that others can run meanwhile; if there is room on it.
  if (!(current_thread() && current_thread()->in_runtime))
    control_settle(static_cast<uptr>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]));
  struct sigaction original = {};
  original.sa_handler = SIG_DFL;
  sigaction(signal, &original, nullptr);
  Thread* t = current_thread();
  Runtime* rt = g_runtime;
  // Another process that sends SIGSEGV shows nothing of this one.
  bool own = info->si_code > 0 || info->si_pid == process_number();
  if (rt && own) {
    control_crashed(signal);
    // A crash inside the runtime must not wait for a lock that this thread holds.
    bool inside = t && t->in_runtime && !controlled();
    sched::Strand* strand = controlled();
    auto pc = static_cast<uptr>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
    Tid tid = t ? t->tid : Tid{0};
    StackId stack = t && !inside ? rt->context(*t) : StackId{0};
    if (strand) {  // the stack as it is: a fault inside a hook belongs to its caller
      tid = static_cast<Tid>(strand->number);
      stack = unwound(*rt, pc);
      if (!t) rt->reporter.thread(tid, static_cast<Tid>(strand->creator), strand->name);
    }
    if (!inside)
      rt->reporter.crash(signal, reinterpret_cast<uptr>(info->si_addr), tid, stack, pc, t != nullptr);
    if (!inside && !rt->finished.load()) rt->chain.finish(rt->reporter);  // a trace goes up to here
  }
  // A fault happens again on return; a signal that was sent must be sent again.
  if (info->si_code <= 0) raise(signal);
}

void report_exit(int code, uptr pc, bool returns) {
  sched::Strand* strand = controlled();
  Runtime* rt = g_runtime;
  if (code == 0 || strand == nullptr || rt == nullptr) return;
  auto tid = static_cast<Tid>(strand->number);
  if (current_thread() == nullptr) rt->reporter.thread(tid, static_cast<Tid>(strand->creator), strand->name);
  // A call is named by where it returns to, main by where it begins.
  StackId stack = returns ? StackId{0} : unwound(*rt, pc);
  rt->reporter.crash(Reporter::kExit, 0, tid, stack, returns ? pc : pc - 1, current_thread() != nullptr);
}

void install_crash_handlers() {
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    struct sigaction now = {};
    if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours = {};
    ours.sa_sigaction = on_crash;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(signal, &ours, nullptr);
  }
}

}  // namespace duress
