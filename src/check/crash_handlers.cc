// SPDX-License-Identifier: Apache-2.0
#include "check/crash_handlers.h"

#include <sys/syscall.h>

#include "check/execution.h"
#include "check/failure.h"
#include "runtime/interceptors/pool.h"

namespace duress {
namespace {

void on_crash(int signal, siginfo_t*, void*) {
  struct sigaction original = {};
  original.sa_handler = SIG_DFL;
  sigaction(signal, &original, nullptr);
  g_pooling = false;
  t_strand = nullptr;
  if (keep_trail()) {
    Text text(check_arena);
    text.put("duress::check: the closure crashed (signal ").number(static_cast<u64>(signal));
    text.put(") in execution ").number(check.call->executions + 1);
    text.put("\nreplay: duress::replay(closure, \"");
    write_token(text, check.request->points == trail::Points::kSync);
    text.put("\")\n");
    write_all(2, text.data(), text.size());
  }
  raw_syscall(SYS_tgkill, process_number(), thread_number(), signal);
}

}  // namespace

CrashHandlers::CrashHandlers() {
  for (int i = 0; i < kCount; ++i) {
    struct sigaction ours = {};
    ours.sa_sigaction = on_crash;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(kSignals[i], &ours, &before_[i]);
  }
}

CrashHandlers::~CrashHandlers() {
  for (int i = 0; i < kCount; ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

}  // namespace duress
