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

#include "exec/files.h"
#include "exec/run_limit.h"
#include "exec/target_start.h"
#include "exec/usability.h"

namespace duress::exec {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = WorkerProblem::Kind;

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
  std::string error = logs_.make(options_.folder + "/logs");
  captured_ = {options_.folder + "/out", options_.folder + "/err"};
  if (error.empty()) exchange_ = Exchange::make(error);
  if (error.empty() && !exchange_->put(plan)) error = "the trail is too long";
  return error;
}

std::string SingleRun::runtime_options() const {
  return "log_dir=" + logs_.path() + ":chain=FastTrack:mode=controlled:request=" + exchange_->request_path() +
         ":record=" + exchange_->record_path();
}

/// Waits until it has ended, and passes on what it prints.
void SingleRun::wait_for(pid_t pid, int output, int errors, u64 most_steps, Execution& execution) {
  Clock::time_point begin = Clock::now();
  Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  RunLimit limit(most_steps);
  double deadline = options_.run_seconds;
  off_t passed_output = 0, passed_errors = 0;
  for (;;) {
    pid_t ended = waitpid(pid, &execution.status, WNOHANG);
    if (options_.pass_on) {
      forward(output, STDOUT_FILENO, passed_output);
      forward(errors, STDERR_FILENO, passed_errors);
    }
    if (ended == pid || (ended < 0 && errno != EINTR)) break;
    execution.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (execution.seconds > deadline && !execution.timed_out) {
      deadline = execution.seconds + options_.run_seconds;
      execution.timed_out = !limit.goes_on(exchange_->steps());
      if (execution.timed_out) kill(pid, SIGKILL);
    }
    // Returns when the process ends, or after 10 ms to forward its output. Without a pidfd (an old kernel)
    // this only sleeps.
    pollfd end = {process.get(), POLLIN, 0};
    poll(&end, 1, process.get() < 0 ? 1 : 10);
  }
  own_ended(pid);
}

WorkerProblem SingleRun::run_once(const Plan& plan, Execution& execution) {
  int flags = O_RDWR | O_CREAT | O_APPEND | O_TRUNC | O_CLOEXEC;
  Descriptor output(open(captured_.output.c_str(), flags, 0600));
  Descriptor errors(open(captured_.errors.c_str(), flags, 0600));
  if (!output || !errors) return {Kind::kTool, cannot_write(options_.folder, errno)};
  exchange_->put(plan);
  TargetStart start;
  start.argv = options_.target;
  start.folder = options_.start_in;
  start.options = runtime_options();
  start.input = options_.input;
  start.output = output.get();
  start.errors = errors.get();
  Started started = start_target(start);
  if (started.error != 0)
    return {Kind::kCannotStart, "cannot start '" + options_.target[0] + "': " + std::strerror(started.error)};
  execution.pid = started.pid;
  wait_for(started.pid, output.get(), errors.get(), plan.head.most_steps, execution);
  exchange_->take(execution);
  execution.output_bytes = size_of(output);
  execution.error_bytes = size_of(errors);
  int error = room_left(output);
  if (error == 0) error = room_left(errors);
  if (error != 0) return {Kind::kTool, cannot_write(options_.folder, error)};
  if (std::string why = logs_.problem(execution); !why.empty()) return {Kind::kTool, why};
  if (std::string why = limit_reached(execution, options_.target[0], captured_); !why.empty())
    return {Kind::kTool, why};
  return {};
}

Result SingleRun::run(const Plan& plan, const Oracle& oracle) {
  Deaths deaths;
  Execution execution;
  for (Deaths::Next next = Deaths::Next::kRepeat; next == Deaths::Next::kRepeat;) {
    logs_.clear(0);
    execution = {};
    if (WorkerProblem why = run_once(plan, execution); why.kind != Kind::kNone) return Result::Unusable{why};
    next = deaths.after(execution, options_.target[0]);
    if (next == Deaths::Next::kGiveUp) return Result::Unusable{{Kind::kTool, deaths.why()}};
  }
  if (!execution.began() && !execution.timed_out)
    return Result::Unusable{{Kind::kEnded, options_.target[0] + " ended before it could be controlled"}};
  std::optional<finding::Failure> failure;
  std::string why = oracle.judge(execution, captured_, failure);
  finding::RunLogs logs = logs_.read(execution.pid);
  if (why.empty()) why = damage_of(logs.run);
  if (!why.empty()) return Result::Unusable{{Kind::kTool, why}};
  if (!failure) return Result::Ended{std::move(execution), std::move(logs)};
  return Result::Misbehaved{std::move(execution), std::move(logs), std::move(*failure)};
}

}  // namespace duress::exec
