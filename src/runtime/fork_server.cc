// SPDX-License-Identifier: Apache-2.0
//
// The fork server: the target stops before main or at its first thread, and forks a child for each request
// (the end of trail/execution.h).
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/check.h"
#include "runtime/control.h"
#include "runtime/interceptors/real.h"
#include "runtime/rollback.h"
#include "runtime/runtime.h"

namespace duress {
namespace {

int server_in = -1, server_out = -1;  // descriptors; -1: not a fork server

}  // namespace

void fork_server_prepare(const char* option) {
  char* rest = nullptr;
  server_in = static_cast<int>(strtol(option, &rest, 10));
  server_out = *rest == ',' ? static_cast<int>(strtol(rest + 1, &rest, 10)) : -1;
  if (server_out < 0) fatal("option server must be IN,OUT[,PROCESSOR]", "two descriptors and a number");
  if (g_runtime->options.rollback_)
    rollback_prepare_server(static_cast<u32>(g_runtime->options.patch_after_));
  if (*rest == ',') control_server_processor(static_cast<unsigned>(strtoul(rest + 1, nullptr, 10)));
}

void control_rewind_input() {
  raw_syscall(SYS_lseek, 0, 0, SEEK_SET);
}

void control_fork_point() {
  if (server_in < 0) return;
  int in = server_in, out = server_out;
  server_in = -1;
  for (;;) {
    char command = 0;
    long n = raw_syscall(SYS_read, in, reinterpret_cast<long>(&command), 1);
    if (n == -EINTR) continue;
    if (n <= 0) exit_process(0);
    if (command != trail::kRun && command != trail::kRunKept) continue;
    bool rolls_back = rollback_wanted();
    pid_t pid = fork_alone();
    if (pid == 0) {
      forget_own_thread_number();
      if (rolls_back) rollback_serve(in, out);  // from here on once for each execution
      g_runtime->log.open_later(g_runtime->options.log_dir_, [] { g_runtime->log_start(); });
      if (!rolls_back) {
        rollback_unused();
        raw_syscall(SYS_close, in);
        raw_syscall(SYS_close, out);
      }
      control_rewind_input();
      control_begin();
      return;
    }
    trail::Reply reply = {pid, -1};
    write_all(out, reinterpret_cast<const char*>(&reply), sizeof reply);
    int status = 125 << 8;
    while (pid > 0 && raw_syscall(SYS_wait4, pid, reinterpret_cast<long>(&status), 0, 0) == -EINTR) {
    }
    if (pid > 0 && !rollback_child_ended()) continue;  // it has answered itself
    reply = {pid, status};
    write_all(out, reinterpret_cast<const char*>(&reply), sizeof reply);
  }
}

}  // namespace duress
