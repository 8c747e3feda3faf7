// SPDX-License-Identifier: Apache-2.0
#include "exec/single_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "exec/files.h"
#include "exec/target_start.h"

namespace duress::exec {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Copies what the file `from` holds beyond `passed`.
void forward(int from, int to, off_t& passed) {
  char buffer[1 << 14];
  for (ssize_t got; (got = pread(from, buffer, sizeof buffer, passed)) > 0;) {
    ssize_t done = 0;
    while (done < got) {
      ssize_t written = write(to, buffer + done, static_cast<std::size_t>(got - done));
      if (written <= 0 && errno != EINTR) break;
      done += std::max<ssize_t>(0, written);
    }
    passed += got;
    if (done < got) return;  // the reader is gone
  }
}

u64 size_of(const Descriptor& file) {
  return static_cast<u64>(std::max<off_t>(0, lseek(file.get(), 0, SEEK_END)));
}

}  // namespace

std::string SingleRun::prepare(const Plan& plan) {
  std::error_code code;
  log_dir_ = options_.folder + "/logs";
  fs::create_directories(log_dir_, code);
  if (code)
    return "cannot make the folder '" + log_dir_ + "': " + code.message() + "; give another with --dir";
  captured_ = {options_.folder + "/out", options_.folder + "/err"};
  std::string error = check_option_path(log_dir_);
  if (error.empty()) exchange_ = Exchange::make(options_.folder, error);
  if (error.empty() && !exchange_->put(plan)) error = "the trail is too long";
  return error;
}

std::string SingleRun::runtime_options() const {
  return "log_dir=" + log_dir_ + ":chain=FastTrack:mode=controlled:request=" + exchange_->request_path() +
         ":record=" + exchange_->record_path();
}

std::optional<Execution> SingleRun::run(const Plan& plan, std::string& error) {
  int flags = O_RDWR | O_CREAT | O_APPEND | O_TRUNC | O_CLOEXEC;
  Descriptor output(open(captured_.output.c_str(), flags, 0600));
  Descriptor errors(open(captured_.errors.c_str(), flags, 0600));
  if (!output || !errors) {
    error = "cannot write below '" + options_.folder + "': " + std::strerror(errno);
    return std::nullopt;
  }
  exchange_->put(plan);
  TargetStart start;
  start.argv = options_.target;
  start.folder = options_.start_in;
  start.options = runtime_options();
  start.input = options_.input;
  start.output = output.get();
  start.errors = errors.get();
  Clock::time_point begin = Clock::now();
  Started started = start_target(start);
  if (started.error != 0) {
    error = "cannot start '" + options_.target[0] + "': " + std::strerror(started.error);
    return std::nullopt;
  }
  Execution execution;
  execution.pid = started.pid;
  Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, started.pid, 0)));
  off_t passed_output = 0, passed_errors = 0;
  for (;;) {
    pid_t ended = waitpid(started.pid, &execution.status, WNOHANG);
    if (options_.pass_on) {
      forward(output.get(), STDOUT_FILENO, passed_output);
      forward(errors.get(), STDERR_FILENO, passed_errors);
    }
    if (ended == started.pid || (ended < 0 && errno != EINTR)) break;
    execution.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (execution.seconds > options_.run_seconds && !execution.timed_out) {
      execution.timed_out = true;
      kill(started.pid, SIGKILL);
    }
    // Returns when the process ends, or after 10 ms to forward its output. Without a pidfd (an old kernel)
    // this only sleeps.
    pollfd end = {process.get(), POLLIN, 0};
    poll(&end, 1, process.get() < 0 ? 1 : 10);
  }
  own_ended(started.pid);
  exchange_->take(execution);
  execution.output_bytes = size_of(output);
  execution.error_bytes = size_of(errors);
  return execution;
}

finding::RunLogs SingleRun::take_logs(const Execution& execution) {
  finding::RunLogs logs = finding::read_run_logs(log_dir_, execution.pid);
  std::error_code ignored;
  fs::remove_all(log_dir_, ignored);
  fs::create_directories(log_dir_, ignored);
  return logs;
}

}  // namespace duress::exec
