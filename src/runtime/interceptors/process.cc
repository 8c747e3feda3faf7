// SPDX-License-Identifier: Apache-2.0
//
// Processes that fork and end. fork() itself has no interceptor: the runtime's part runs in handlers of
// pthread_atfork, which daemon() and forkpty() run too. They are registered when the runtime wakes, before
// the program's own ones, so the program's run while our locks are free. The end of the log is written among
// the exit handlers; what stands in for exit() only waits until the memory model owes nothing.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "runtime/control.h"
#include "runtime/crash.h"
#include "runtime/exit_wait.h"
#include "runtime/interceptors/epoll.h"
#include "runtime/interceptors/fork.h"
#include "runtime/interceptors/object.h"
#include "runtime/misuse.h"

namespace duress {

void enter_fork() {
  lock_interceptor_tables();
  before_fork();
}

void leave_fork(bool child) {
  if (child) {
    forget_own_thread_number();
    forget_other_threads();
    objects_after_fork();
    epoll_after_fork();
  }
  after_fork(child);
  if (!child) control_child_made();
  unlock_interceptor_tables();
}

void prepare_fork() {
  static constinit std::atomic<bool> prepared{false};
  if (prepared.exchange(true)) return;
  pthread_atfork(enter_fork, [] { leave_fork(false); }, [] { leave_fork(true); });
}

}  // namespace duress

using namespace duress;

/// The C library's _Fork runs no handlers.
DURESS_INTERCEPTOR(pid_t, _Fork, ()) {
  if (!awake()) return DURESS_REAL(_Fork)();
  enter_fork();
  pid_t pid = DURESS_REAL(_Fork)();
  int saved = errno;
  leave_fork(pid == 0);
  errno = saved;
  return pid;
}

namespace duress {
pid_t fork_alone() {
  return DURESS_REAL(_Fork)();
}
}  // namespace duress

/// The child of a vfork runs in the parent's memory, runtime included, which would then take two processes
/// for one. A fork does what POSIX asks of vfork. Asleep it is the real one, by a jump: it returns twice, and
/// the frame of a call would be gone at the second time.
DURESS_INTERCEPTOR(pid_t, vfork, ()) {
  if (awake()) return fork();
  [[clang::musttail]] return DURESS_REAL(vfork)();
}

DURESS_INTERCEPTOR(void, _exit, (int code)) {
  control_settle(DURESS_CALLER_PC);
  report_exit(code, DURESS_CALLER_PC);
  if (awake()) process_ending(code);
  DURESS_REAL(_exit)(code);
}

DURESS_INTERCEPTOR(void, _Exit, (int code)) {
  control_settle(DURESS_CALLER_PC);
  report_exit(code, DURESS_CALLER_PC);
  if (awake()) process_ending(code);
  DURESS_REAL(_Exit)(code);
}

/// The handlers of at_quick_exit run after the last line of the log: races in them are not reported.
DURESS_INTERCEPTOR(void, quick_exit, (int code)) {
  control_settle(DURESS_CALLER_PC);
  report_exit(code, DURESS_CALLER_PC);
  if (awake()) process_ending(code);
  DURESS_REAL(quick_exit)(code);
}

DURESS_INTERCEPTOR(void, exit, (int code)) {
  control_settle(DURESS_CALLER_PC);
  if (controlled()) scheduler().leave(DURESS_CALLER_PC);
  wait_for_other_threads();
  if (code == 0) misuse_at_exit();
  report_exit(code, DURESS_CALLER_PC);
  DURESS_REAL(exit)(code);
}

// A thread that waits inside the C library's abort would hold a lock of it: others may want to fail too.
DURESS_INTERCEPTOR(void, abort, ()) {
  control_settle(DURESS_CALLER_PC);
  DURESS_REAL(abort)();
}

DURESS_INTERCEPTOR(void, __assert_fail,
                   (const char* text, const char* file, unsigned line, const char* function)) {
  control_settle(DURESS_CALLER_PC);
  DURESS_REAL(__assert_fail)(text, file, line, function);
}

/// The C library's daemon() ends the parent where nobody sees it, so the log would lack its end. This one
/// does the same steps.
DURESS_INTERCEPTOR(int, daemon, (int keep_directory, int keep_files)) {
  if (!awake()) return DURESS_REAL(daemon)(keep_directory, keep_files);
  pid_t pid = fork();
  if (pid < 0) return -1;
  if (pid > 0) {
    process_ending(0);
    DURESS_REAL(_exit)(0);
  }
  if (setsid() < 0) return -1;
  if (!keep_directory && chdir("/") != 0) return -1;
  if (!keep_files) {
    int null = open("/dev/null", O_RDWR);
    if (null < 0) return -1;
    for (int fd = 0; fd <= 2; ++fd) dup2(null, fd);
    if (null > 2) close(null);
  }
  return 0;
}
