// SPDX-License-Identifier: Apache-2.0
#include "runtime/exit_wait.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "runtime/control.h"
#include "runtime/runtime.h"

namespace duress {
namespace {

/// False: a sandbox forbids it.
bool sleep_one_millisecond() {
  timespec t{0, 1'000'000};
  const long result = raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&t));
  return result == 0 || result == -EINTR;
}

/// The next number of a line of /proc, in C's notation.
u64 next_number(const char*& at) {
  while (*at == ' ') ++at;
  const bool hexadecimal = at[0] == '0' && at[1] == 'x';
  if (hexadecimal) at += 2;
  u64 result = 0;
  for (; *at && *at != ' '; ++at) {
    const char c = *at;
    const u64 digit = c >= 'a' ? static_cast<u64>(c - 'a') + 10 : static_cast<u64>(c - '0');
    result = result * (hexadecimal ? 16 : 10) + digit;
  }
  return result;
}

/// Whether the thread, a name in /proc/self/task, waits without a time limit for another thread of this
/// process, or has ended. Says no if that cannot be known.
bool only_others_wake(long tasks, const char* name) {
  char path[32], line[256];
  size_t length = 0;
  while (name[length] && length < sizeof path - sizeof "/syscall") {
    path[length] = name[length];
    ++length;
  }
  __builtin_memcpy(path + length, "/syscall", sizeof "/syscall");
  long file = raw_syscall(SYS_openat, tasks, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file == -ENOENT;
  long got = raw_syscall(SYS_read, file, reinterpret_cast<long>(line), sizeof line - 1);
  raw_syscall(SYS_close, file);
  if (got <= 0) return got == -ESRCH;
  line[got] = '\0';
  if (line[0] < '0' || line[0] > '9') return false;  // it runs
  const char* at = line;
  if (next_number(at) != SYS_futex) return false;
  next_number(at);  // the address
  const u64 operation = next_number(at) & FUTEX_CMD_MASK;
  next_number(at);  // the value
  const u64 timeout = next_number(at);
  return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) && timeout == 0;
}

/// Whether a thread other than the caller can go on: the kernel knows. False without /proc.
bool somebody_can_run() {
  long tasks = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/task"),
                           O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return false;
  alignas(8) char entries[4096];
  bool result = false;
  for (long got; !result && (got = raw_syscall(SYS_getdents64, tasks, reinterpret_cast<long>(entries),
                                               sizeof entries)) > 0;) {
    for (long at = 0; at < got && !result;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      const char* name = entry->d_name;
      if (*name == '.' || next_number(name) == static_cast<u64>(thread_number())) continue;
      result = !only_others_wake(tasks, entry->d_name);
    }
  }
  raw_syscall(SYS_close, tasks);
  return result;
}

}  // namespace

void wait_for_other_threads() {
  if (!awake() || g_scheduler) return;
  Runtime& rt = *g_runtime;
  // Nothing is asked where nobody is left: a sandbox may kill a program for a call that it did not expect.
  if (!rt.fasttrack.has_starting_threads() && rt.live && !rt.live->next) return;
  for (u64 left = rt.options.exit_wait_; left && somebody_can_run(); --left) {
    if (!sleep_one_millisecond()) return;
  }
}

}  // namespace duress
