// SPDX-License-Identifier: Apache-2.0
#include "exec/usability.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "exec/fork_server.h"

namespace duress::exec {

int unexplained_signal(const Execution& execution) {
  bool by_us = execution.timed_out || execution.flooded;
  if (by_us || !WIFSIGNALED(execution.status)) return 0;
  int signal = WTERMSIG(execution.status);
  return static_cast<u32>(signal) == execution.record.own_signal ? 0 : signal;
}

namespace {

/// Whether the kernel has killed processes for lack of memory since the last call.
bool out_of_memory_kills_grew() {  // false at the first
  static std::atomic<u64> last{~u64{0}};
  std::string text = read_file("/proc/vmstat").value_or("");
  std::size_t at = text.find("\noom_kill ");
  u64 now = at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + 10, nullptr, 10);
  return last.exchange(now) < now;
}

/// Whether our own processes are limited so.
bool is_limited(__rlimit_resource limit) {
  struct rlimit value{};
  return getrlimit(limit, &value) == 0 && value.rlim_cur != RLIM_INFINITY;
}

}  // namespace

Deaths::Deaths() {
  static std::once_flag once;
  std::call_once(once, out_of_memory_kills_grew);
}

Deaths::Next Deaths::after(const Execution& execution, const std::string& program) {
  int signal = unexplained_signal(execution);
  if (signal == 0) return Next::kUse;
  if (++count_ == 1) signal_ = signal;
  equal_ = equal_ && signal == signal_;
  memory_ = memory_ || (signal == SIGKILL && out_of_memory_kills_grew());
  if (count_ < kMost) return Next::kRepeat;
  // Nobody can catch SIGKILL, but the runtime sees it if the program sends it.
  if (equal_ && signal != SIGKILL) return Next::kUse;
  why_ = program + " " + how_ended(execution.status) + " in " + std::to_string(count_) +
         " executions of one schedule: ";
  why_ += memory_ ? "the system ran out of memory; run fewer at a time with -j, or give it more memory"
                  : "something outside ends its processes; stop that";
  why_ += ", and run the same command again";
  return Next::kGiveUp;
}

std::string limit_reached(const Execution& execution, const std::string& program, const Captured& captured) {
  if (execution.record.tool_failed != 0) {
    std::string last = last_errors(captured);
    last.erase(last.find_last_not_of('\n') + 1);
    last = last.substr(last.rfind('\n') + 1);
    return "the runtime in " + program +
           " could not go on: " + (last.empty() ? "no memory, or a defect" : last);
  }
  if (!WIFSIGNALED(execution.status)) return {};
  int signal = WTERMSIG(execution.status);
  if (signal == SIGXFSZ && is_limited(RLIMIT_FSIZE))
    return program + " reached the limit on file sizes; raise it (ulimit -f)";
  if (signal == SIGXCPU && is_limited(RLIMIT_CPU))
    return program + " reached the limit on processor time; raise it (ulimit -t)";
  return {};
}

int room_left(const Descriptor& file) {
  constexpr off_t kRoom = 4096;
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return errno;
  struct rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<rlim_t>(info.st_size) >= limit.rlim_cur)
    return EFBIG;
  // Stays behind the end of the file, so that it costs time only once.
  if (fallocate(file.get(), FALLOC_FL_KEEP_SIZE, info.st_size, kRoom) == 0) return 0;
  if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR) return errno;
  struct statvfs system{};
  if (fstatvfs(file.get(), &system) != 0) return errno;
  return system.f_bavail == 0 ? ENOSPC : 0;
}

}  // namespace duress::exec
