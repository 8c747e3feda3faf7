// SPDX-License-Identifier: Apache-2.0
#include "exec/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace duress::exec {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = WorkerProblem::Kind;

// High numbers, so that the target's own descriptors start at 3 as they would without us. And above the
// runtime's log (900): a descriptor table that has to grow in a process with threads waits for all processors
// (synchronize_rcu), which takes 10 ms and more; one that was large enough at the fork does not. `duress
// classify` on double-checked locking went from 75 to 380 runs/s.
constexpr int kServerDescriptors[] = {1000, 198};  // the second where the limit (ulimit -n) is lower
constexpr int kPollMilliseconds = 100;             // how late Ctrl-C, a flood or a dead server may be noticed
constexpr int kEndMilliseconds = 500;              // between the end of the pipe and that of the process

struct Pipe {
  Descriptor reader, writer;

  bool made() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    reader = Descriptor(ends[0]);
    writer = Descriptor(ends[1]);
    return true;
  }
};

/// A copy with a high number. The original is closed.
Descriptor moved_up(Descriptor original) {
  for (int from : kServerDescriptors) {
    if (int high = fcntl(original.get(), F_DUPFD_CLOEXEC, from); high >= 0) return Descriptor(high);
  }
  return original;
}

}  // namespace

std::string how_ended(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return std::string("was ended by ") +
           (name ? "SIG" + std::string(name) : "signal " + std::to_string(WTERMSIG(status)));
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

std::string ForkServer::end_text() const {
  return running() ? "closed its pipe" : how_ended(status_);
}

WorkerProblem ForkServer::start(TargetStart target, int processor) {
  Pipe in, out, alive;
  if (!in.made() || !out.made() || !alive.made())
    return {Kind::kTool, std::string("cannot make a pipe: ") + std::strerror(errno)};
  Descriptor server_in = moved_up(std::move(in.reader)), server_out = moved_up(std::move(out.writer));
  Descriptor lifeline = moved_up(std::move(alive.reader));
  to_ = std::move(in.writer);
  from_ = std::move(out.reader);
  alive_ = std::move(alive.writer);
  target.kept = {server_in.get(), server_out.get(), lifeline.get()};
  target.own_group = true;
  target.lifeline = lifeline.get();
  target.options += ":server=" + std::to_string(server_in.get()) + "," + std::to_string(server_out.get());
  if (processor >= 0) target.options += "," + std::to_string(processor);
  Started started = start_target(target);
  if (started.error != 0)
    return {Kind::kCannotStart, "cannot start '" + target.argv[0] + "': " + std::strerror(started.error)};
  pid_ = started.pid;
  return {};
}

int ForkServer::stop() {
  to_.reset();  // tells it to end
  from_.reset();
  if (!running()) return 0;
  // It would end by itself, but its descendants might not.
  alive_.reset();
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  own_ended(pid_);
  pid_ = -1;
  return end_leftovers();
}

void ForkServer::request_run(By by) {
  const char text[] = {trail::kEndKept, by == By::kKept ? trail::kRunKept : trail::kRun};
  std::size_t skipped = by == By::kNew ? 0 : 1;
  ssize_t written;
  do written = write(to_.get(), text + skipped, sizeof text - skipped);
  while (written < 0 && errno == EINTR);
}

bool ForkServer::has_ended(int milliseconds) {
  for (;; --milliseconds) {
    if (waitpid(pid_, &status_, WNOHANG) == pid_) {
      own_ended(pid_);
      pid_ = -1;
      return true;
    }
    if (milliseconds <= 0) return false;
    usleep(1000);
  }
}

ForkServer::Wait ForkServer::wait(double seconds, trail::Reply& reply, const std::atomic<bool>* stop,
                                  const std::function<bool()>& flooded) {
  Clock::time_point start = Clock::now();
  for (;;) {
    double left = seconds - std::chrono::duration<double>(Clock::now() - start).count();
    if (left <= 0) return Wait::kTimeout;
    pollfd wanted{from_.get(), POLLIN, 0};
    bool closed = poll(&wanted, 1, std::min(kPollMilliseconds, static_cast<int>(left * 1000) + 1)) > 0;
    if (closed && (wanted.revents & POLLIN) != 0) {
      ssize_t got = read(from_.get(), &reply, sizeof reply);
      if (got == sizeof reply) return Wait::kReply;
      if (got < 0 && errno == EINTR) continue;
    }
    // The pipe is not enough to tell: a process that a run left behind may hold its other end. And the end of
    // the pipe comes a moment before the end of the process.
    if (has_ended(closed ? kEndMilliseconds : 0)) return Wait::kGone;
    if (closed) return Wait::kGone;  // it closed its end and lives on: no longer a server
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return Wait::kStopped;
    if (flooded && flooded()) return Wait::kFlooded;
  }
}

}  // namespace duress::exec
