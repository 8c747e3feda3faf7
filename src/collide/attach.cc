// SPDX-License-Identifier: Apache-2.0
#include "collide/attach.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/exec_words.h"
#include "collide/elf_file.h"
#include "collide/target_memory.h"

namespace duress::collide {
namespace {

std::vector<pid_t> tasks(pid_t pid) {
  std::vector<pid_t> result;
  if (DIR* dir = opendir(fmt::format("/proc/{}/task", pid).c_str())) {
    while (dirent* entry = readdir(dir)) {
      if (entry->d_name[0] != '.') result.push_back(static_cast<pid_t>(std::atoi(entry->d_name)));
    }
    closedir(dir);
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool ending(pid_t tid) {
  std::string status = read_file(fmt::format("/proc/{}/status", tid));
  return status.empty() || status.find("\nState:\tZ") != std::string::npos ||
         status.find("\nState:\tX") != std::string::npos;
}

/// Why it cannot be sampled, as far as that is known before the attempt; else "".
std::string unfit(pid_t pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH)
    return fmt::format("no process {}: it has ended, or the number is wrong", pid);
  if (pid == getpid()) return fmt::format("process {} is this duress process: choose another", pid);
  if (long leader = status_field(pid, "Tgid"); leader > 0 && leader != pid)
    return fmt::format("{} is a thread of process {}: attach to {} instead", pid, leader, leader);
  if (ending(pid) && tasks(pid).size() <= 1) return fmt::format("process {} has already ended", pid);
  if (long tracer = status_field(pid, "TracerPid"); tracer > 0)
    return fmt::format("process {} is already traced by process {}: end that tracer first", pid, tracer);
  std::string exe = fmt::format("/proc/{}/exe", pid);
  std::error_code code;
  bool nameless = std::filesystem::read_symlink(exe, code).empty();
  if (nameless && code == std::errc::no_such_file_or_directory)
    return fmt::format("process {} is a kernel thread: only programs can be sampled", pid);
  if (elf_class(exe) == 32)
    return fmt::format("process {} is a 32-bit program: only 64-bit ones can be sampled", pid);
  return {};
}

std::string refused(pid_t pid, int error) {
  if (error == ESRCH) return fmt::format("process {} ended while duress attached to it", pid);
  if (error != EPERM && error != EACCES)
    return fmt::format("cannot attach to process {}: {}", pid, std::strerror(error));
  std::string scope = read_file("/proc/sys/kernel/yama/ptrace_scope");
  std::string fix = "run duress as its owner or as root; in a container add the capability SYS_PTRACE";
  if (!scope.empty() && scope[0] != '0') fix += "; sysctl kernel.yama.ptrace_scope=0";
  return fmt::format("not permitted to attach to process {}: {}", pid, fix);
}

/// Until the child runs the program; false if it ended before.
bool wait_for_exec(pid_t pid) {
  for (;;) {
    int status = 0;
    if (waitpid(pid, &status, __WALL) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (!WIFSTOPPED(status)) return false;
    if (status >> 16 == PTRACE_EVENT_EXEC) return true;
    ptrace(PTRACE_CONT, pid, 0, status >> 16 == 0 ? WSTOPSIG(status) : 0);
  }
}

}  // namespace

long status_field(pid_t pid, const char* name) {
  std::string text = read_file(fmt::format("/proc/{}/status", pid));
  std::size_t at = text.find(fmt::format("\n{}:\t", name));
  return at == std::string::npos ? -1 : std::atol(text.c_str() + at + std::strlen(name) + 3);
}

int seize(pid_t tid, bool ours) {
  constexpr unsigned long kOptions =
      PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
  return ptrace(PTRACE_SEIZE, tid, 0, ours ? kOptions | PTRACE_O_EXITKILL : kOptions) == 0 ? 0 : errno;
}

pid_t start_program(const std::vector<std::string>& program, const sigset_t& mask, int& error) {
  std::vector<char*> arguments = exec_words(program);
  int go[2], report[2];
  if (pipe2(go, O_CLOEXEC) != 0) {
    error = errno;
    return -1;
  }
  if (pipe2(report, O_CLOEXEC) != 0) {
    error = errno;
    close(go[0]);
    close(go[1]);
    return -1;
  }
  pid_t pid = fork();
  if (pid == 0) {
    char word = 0;
    close(go[1]);
    // The parent is gone, so there is no tracer.
    if (read(go[0], &word, 1) != 1) _exit(127);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    execvp(arguments[0], arguments.data());
    int code = errno;
    ssize_t ignored = write(report[1], &code, sizeof code);
    (void)ignored;
    _exit(127);
  }
  error = pid < 0 ? errno : seize(pid, true);
  close(go[0]);
  close(report[1]);
  if (error == 0) {
    ssize_t ignored = write(go[1], "", 1);
    (void)ignored;
    if (!wait_for_exec(pid)) {
      // Damaged: the kernel ended it when it could not go back any more.
      if (read(report[0], &error, sizeof error) != sizeof error) error = ENOEXEC;
    }
  } else if (pid > 0) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, __WALL);
  }
  close(go[1]);
  close(report[0]);
  return error == 0 ? pid : -1;
}

std::string attach_to(pid_t pid, std::vector<pid_t>& threads) {
  if (std::string why = unfit(pid); !why.empty()) return why;
  // Threads may start others until the last of them is seized; those of a seized one are traced at once.
  std::set<pid_t> ours;
  for (bool more = true; more;) {
    more = false;
    for (pid_t tid : tasks(pid)) {
      if (ours.count(tid) != 0) continue;
      int error = seize(tid);
      bool started_by_ours = error == EPERM && status_field(tid, "TracerPid") == gettid();
      if (error == 0 || started_by_ours) {
        ours.insert(tid);
        more = true;
      } else if (tid == pid && !ending(tid)) {
        return refused(pid, error);
      }
      // Otherwise the thread is ending.
    }
  }
  if (ours.empty()) return refused(pid, ESRCH);
  threads.assign(ours.begin(), ours.end());
  return {};
}

}  // namespace duress::collide
