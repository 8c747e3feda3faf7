// SPDX-License-Identifier: Apache-2.0
//
// Installing handlers and sending signals. Who gets a signal in controlled mode: signal_delivery.cc.
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

static bool known(int signal) {
  return signal >= 1 && signal <= kMostSignals;
}

bool signal_thread(int number, int signal) {
  for (sched::Strand* s = controlled() ? scheduler().strands() : nullptr; s; s = s->next_strand) {
    if (s->kernel.os_id != number || s->state == sched::Strand::State::kEnded) continue;
    if (signal != 0 && !is_fault(signal)) {
      send_to_strand(s, signal);
    } else if (signal != 0) {  // whoever runs it
      number = scheduler().emulates_threads() ? thread_number() : number;
      raw_syscall(SYS_tgkill, process_number(), number, signal);
    }
    return true;
  }
  return false;
}

}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, sigaction, (int signal, const struct sigaction* action, struct sigaction* old)) {
  if (!awake() || !known(signal) || is_fault(signal)) return DURESS_REAL(sigaction)(signal, action, old);
  if (!controlled()) return install_ordered(signal, action, old, DURESS_REAL(sigaction), DURESS_CALLER_PC);
  if (action) handler_installed(signal, DURESS_CALLER_PC);
  return set_controlled_action(signal, action, old);
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
  send_to_strand(to, signal);
  return 0;
}

DURESS_INTERCEPTOR(int, tgkill, (pid_t process, pid_t thread, int signal)) {
  bool ours =
      signal >= 0 && signal <= kMostSignals && process == process_number() && signal_thread(thread, signal);
  return ours ? 0 : DURESS_REAL(tgkill)(process, thread, signal);
}

DURESS_INTERCEPTOR(int, raise, (int signal)) {
  if (!controlled() || !known(signal) || is_fault(signal)) return DURESS_REAL(raise)(signal);
  send_to_strand(controlled(), signal);
  return 0;
}

DURESS_INTERCEPTOR(int, kill, (pid_t pid, int signal)) {
  bool ours = controlled() && pid == process_number() && known(signal) && !is_fault(signal);
  if (!ours) {
    if (awake()) control_sends(pid, signal);
    return DURESS_REAL(kill)(pid, signal);
  }
  control_point(OpKind::kSignal, nullptr, DURESS_CALLER_PC);
  // To the strand that sends it, if it takes it.
  if (controlled()->signals.blocked & signal_bit(signal)) {
    note_for_process(signal);
  } else {
    send_to_strand(controlled(), signal);
  }
  return 0;
}

namespace duress {

int sigaction_of_kernel(int signal, const struct sigaction* action, struct sigaction* old) {
  return DURESS_REAL(sigaction)(signal, action, old);
}

}  // namespace duress
