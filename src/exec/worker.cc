// SPDX-License-Identifier: Apache-2.0
//
// The server is the target itself, stopped before its first thread: a run costs a fork instead of loading,
// relocating and initialising the program again. It is the user's code, so nothing it does is relied on:
// every wait has an end, a server that is gone is started again, and a run that kills its server twice is
// given up with a line that says so.
#include "exec/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "exec/target_start.h"

namespace duress::exec {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Kind = WorkerProblem::Kind;

// Out of the way: the target's own start at 3, as they would alone. And above the runtime's log (900): a
// table of descriptors that must grow in a process with threads waits for all processors (synchronize_rcu),
// which takes 10 ms and more; one that was as large at the fork need not. `duress classify` on double-checked
// locking went from 75 to 380 runs/s.
constexpr int kServerDescriptors[] = {1000, 198};  // the second where the limit (ulimit -n) is lower
constexpr int kPollMilliseconds = 100;             // how late Ctrl-C, a flood or a dead server may be noticed
constexpr u64 kMostOutput = u64{1} << 30;
constexpr double kLeastStartSeconds = 10;  // loading a large program on a busy machine

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A copy with a high number. The original is closed.
Descriptor moved_up(int fd) {
  Descriptor original(fd);
  for (int from : kServerDescriptors) {
    if (int high = fcntl(fd, F_DUPFD_CLOEXEC, from); high >= 0) return Descriptor(high);
  }
  return original;
}

u64 size_of(const Descriptor& file) {
  struct stat info{};
  return fstat(file.get(), &info) == 0 ? static_cast<u64>(info.st_size) : 0;
}

void empty(const Descriptor& file) {
  if (size_of(file) != 0 && ftruncate(file.get(), 0) != 0) {
  }
}

std::string how_ended(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return std::string("was ended by ") +
           (name ? "SIG" + std::string(name) : "signal " + std::to_string(WTERMSIG(status)));
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Worker::Worker(WorkerOptions options, const std::atomic<bool>* stop)
    : options_(std::move(options)), stop_(stop) {
  static std::once_flag once;
  std::call_once(once, [] {
    signal(SIGPIPE, SIG_IGN);  // a server that is gone is an error code, not our end
    adopt_leftovers();
  });
}

Worker::~Worker() {
  stop_server();
  exchange_.reset();
  std::error_code ignored;
  if (!log_dir_.empty()) fs::remove_all(options_.folder, ignored);
}

bool Worker::fail(Kind kind, const std::string& text) {
  problem_ = {kind, text};
  return false;
}

bool Worker::prepare() {
  if (exchange_) return true;
  if (!prepare_files()) return false;
  std::string error;
  exchange_ = Exchange::make(options_.folder, error);
  return exchange_ ? true : fail(Kind::kTool, error);
}

bool Worker::prepare_files() {
  if (output_) return true;
  std::error_code code;
  log_dir_ = options_.folder + "/logs";
  fs::create_directories(log_dir_, code);
  if (code)
    return fail(Kind::kTool,
                "cannot make the folder '" + log_dir_ + "': " + code.message() + "; give another with --dir");
  std::string error = check_option_path(log_dir_);
  if (!error.empty()) return fail(Kind::kTool, error);
  captured_ = {options_.folder + "/out", options_.folder + "/err"};
  int flags = O_RDWR | O_CREAT | O_APPEND | O_TRUNC | O_CLOEXEC;
  output_ = Descriptor(open(captured_.output.c_str(), flags, 0600));
  errors_ = Descriptor(open(captured_.errors.c_str(), flags, 0600));
  if (!output_ || !errors_)
    return fail(Kind::kTool, "cannot write below '" + options_.folder + "': " + std::strerror(errno) +
                                 "; give another with --dir");
  return true;
}

bool Worker::start_server() {
  if (server_ > 0) return true;
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0)
    return fail(Kind::kTool, std::string("cannot make a pipe: ") + std::strerror(errno));
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]), close(in[1]);
    return fail(Kind::kTool, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  Descriptor server_in = moved_up(in[0]), server_out = moved_up(out[1]);
  to_server_ = Descriptor(in[1]);
  from_server_ = Descriptor(out[0]);

  TargetStart start;
  start.argv = options_.target;
  start.folder = options_.start_in;
  start.input = options_.input;
  start.output = output_.get();
  start.errors = errors_.get();
  start.kept = {server_in.get(), server_out.get()};
  start.own_group = true;
  start.options = "log_dir=" + log_dir_ + ":chain=" + options_.chain +
                  ":mode=controlled:request=" + exchange_->request_path() +
                  ":record=" + exchange_->record_path() + ":server=" + std::to_string(server_in.get()) + "," +
                  std::to_string(server_out.get());
  if (options_.processor >= 0) start.options += "," + std::to_string(options_.processor);
  Started started = start_target(start);
  if (started.error != 0)
    return fail(Kind::kCannotStart,
                "cannot start '" + options_.target[0] + "': " + std::strerror(started.error));
  server_ = started.pid;
  answered_ = false;
  return true;
}

void Worker::stop_server() {
  to_server_.reset();  // its signal to end
  from_server_.reset();
  if (server_ <= 0) return;
  // It would end by itself, but what it forked and what that forked might not.
  kill(-server_, SIGKILL);
  kill(server_, SIGKILL);
  while (waitpid(server_, &server_status_, 0) < 0 && errno == EINTR) {
  }
  own_ended(server_);
  server_ = -1;
  leftovers_ += end_leftovers();
}

Worker::Wait Worker::wait_reply(double seconds, trail::Reply& reply, bool watch_output) {
  Clock::time_point start = Clock::now();
  for (;;) {
    double left = seconds - since(start);
    if (left <= 0) return Wait::kTimeout;
    pollfd wanted{from_server_.get(), POLLIN, 0};
    int ready = poll(&wanted, 1, std::min(kPollMilliseconds, static_cast<int>(left * 1000) + 1));
    if (ready > 0 && (wanted.revents & POLLIN) != 0) {
      ssize_t got = read(from_server_.get(), &reply, sizeof reply);
      if (got == sizeof reply) return Wait::kReply;
      if (got < 0 && errno == EINTR) continue;
      ready = 1;  // end of file, or half an answer
    }
    // The pipe alone does not tell: what a run left behind may hold its other end. And the end of the pipe
    // comes a moment before the end of the process.
    for (int patience = ready > 0 ? 500 : 0;; --patience) {
      pid_t ended = waitpid(server_, &server_status_, WNOHANG);
      if (ended == server_) {
        own_ended(server_);
        server_ = -1;
        return Wait::kServerGone;
      }
      if (patience <= 0) break;
      usleep(1000);
    }
    if (ready > 0) return Wait::kServerGone;  // closed its end and lives on: no longer a server
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) return Wait::kStopped;
    if (watch_output && size_of(output_) + size_of(errors_) > kMostOutput) {
      flooded_ = true;
      return Wait::kTimeout;
    }
  }
}

std::optional<Execution> Worker::attempt(const Plan& plan) {
  empty(output_);
  empty(errors_);
  if (!exchange_->put(plan)) {
    fail(Kind::kTool, "a request of " + std::to_string(plan.trail.size()) + " choices is too long");
    return std::nullopt;
  }
  ssize_t written;
  do written = write(to_server_.get(), &trail::kRun, 1);
  while (written < 0 && errno == EINTR);

  trail::Reply reply{};
  Wait wait = wait_reply(
      answered_ ? options_.run_seconds : std::max(options_.run_seconds, kLeastStartSeconds), reply, false);
  if (wait == Wait::kStopped) fail(Kind::kStopped, "stopped");
  if (wait == Wait::kTimeout)
    fail(Kind::kSilent,
         options_.target[0] + " does not answer: it runs, but has not come to its main function within " +
             std::to_string(static_cast<int>(std::max(options_.run_seconds, kLeastStartSeconds))) +
             " s; give it longer with --run-timeout");
  if (wait == Wait::kServerGone && !answered_)
    fail(Kind::kEnded, ended_text("before it could be controlled"));
  if (wait != Wait::kReply) {
    stop_server();
    return std::nullopt;
  }
  if (reply.pid <= 0) {
    fail(Kind::kTool, options_.target[0] + " cannot be forked: too many processes, or too little memory");
    stop_server();
    return std::nullopt;
  }
  answered_ = true;

  Execution execution;
  execution.pid = reply.pid;
  Clock::time_point start = Clock::now();
  flooded_ = false;
  if (reply.status == -1) {
    wait = wait_reply(options_.run_seconds, reply, true);
    if (wait == Wait::kTimeout || wait == Wait::kStopped) {
      bool stopped = wait == Wait::kStopped;
      execution.flooded = flooded_;
      execution.timed_out = !stopped && !flooded_;
      kill(execution.pid, SIGKILL);
      const std::atomic<bool>* stop = std::exchange(stop_, nullptr);
      wait = wait_reply(5, reply, false);
      stop_ = stop;
      if (wait != Wait::kReply) stop_server();  // the next run starts a new one
      reply.status = SIGKILL;
      if (stopped) {
        fail(Kind::kStopped, "stopped");
        return std::nullopt;
      }
      wait = Wait::kReply;
    }
    if (wait == Wait::kServerGone) {
      stop_server();
      return std::nullopt;
    }
  }
  execution.status = reply.status;
  execution.seconds = since(start);
  exchange_->take(execution);
  leftovers_ += end_leftovers();
  execution.output_bytes = size_of(output_);
  execution.error_bytes = size_of(errors_);
  return execution;
}

std::optional<Execution> Worker::run(const Plan& plan) {
  problem_ = {};
  if (options_.remote) return run_remotely(plan);
  for (int tries = 0; tries < 2; ++tries) {
    if (!prepare() || !start_server()) return std::nullopt;
    if (std::optional<Execution> execution = attempt(plan)) {
      if (execution->began() || execution->timed_out) return execution;
      fail(Kind::kEnded,
           options_.target[0] + " " + how_ended(execution->status) +
               " before the execution began; its runtime is of another version, or see duress doctor");
      return std::nullopt;
    }
    if (problem_.kind != Kind::kNone) return std::nullopt;
    ++restarts_;
  }
  fail(Kind::kEnded,
       ended_text("twice in the middle of a run: it ends its parent process, which cannot be controlled"));
  return std::nullopt;
}

std::string Worker::ended_text(const std::string& what) const {
  std::string text =
      options_.target[0] + " " + (server_ > 0 ? "closed its pipe" : how_ended(server_status_)) + " " + what;
  // Its last words often say why, the dynamic linker's above all.
  std::string last = read_file(captured_.errors, 400).value_or("");
  while (!last.empty() && last.back() == '\n') last.pop_back();
  last = last.substr(last.rfind('\n') + 1);
  return last.empty() ? text : text + " (" + last + ")";
}

finding::RunLogs Worker::take_logs(const Execution& execution) {
  for (const auto& [name, text] : remote_logs_) {
    if (std::FILE* file = std::fopen((log_dir_ + "/" + name).c_str(), "we")) {
      std::fwrite(text.data(), 1, text.size(), file);
      std::fclose(file);
    }
  }
  finding::RunLogs logs = finding::read_run_logs(log_dir_, execution.pid);
  clear_logs();
  return logs;
}

/// The server's own log stays.
void Worker::clear_logs() {
  remote_logs_.clear();
  std::error_code code;
  for (fs::directory_iterator it(log_dir_, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (it->path().stem() != std::to_string(server_)) fs::remove(it->path(), ignored);
  }
}

void Worker::drop_logs(const Execution& execution) {
  remote_logs_.clear();
  if (!options_.remote) unlink((log_dir_ + "/" + std::to_string(execution.pid) + ".jsonl").c_str());
}

RemoteRun Worker::pack(std::optional<Execution> execution) {
  RemoteRun run;
  run.restarts = std::exchange(packed_restarts_, restarts_);
  run.restarts = restarts_ - run.restarts;
  run.leftovers = std::exchange(packed_leftovers_, leftovers_);
  run.leftovers = leftovers_ - run.leftovers;
  run.problem = problem_;
  if (!execution) return run;
  run.ran = true;
  if (execution->output_bytes != 0) run.output = read_file(captured_.output).value_or("");
  if (execution->error_bytes != 0) run.errors = read_file(captured_.errors).value_or("");
  std::error_code code;
  for (fs::directory_iterator it(log_dir_, code), end; !code && it != end; it.increment(code)) {
    if (std::optional<std::string> text = read_file(it->path()))
      run.logs.emplace_back(it->path().filename(), std::move(*text));
  }
  clear_logs();
  run.execution = std::move(*execution);
  return run;
}

std::optional<Execution> Worker::run_remotely(const Plan& plan) {
  if (!prepare_files()) return std::nullopt;
  RemoteRun run = options_.remote->run(options_, plan, stop_);
  restarts_ += run.restarts;
  leftovers_ += run.leftovers;
  problem_ = run.problem;
  remote_logs_ = std::move(run.logs);
  if (!run.ran) return std::nullopt;
  auto put = [](const Descriptor& file, const std::string& text) {
    empty(file);
    for (std::size_t done = 0; done < text.size();) {
      ssize_t written = write(file.get(), text.data() + done, text.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      done += static_cast<std::size_t>(written);
    }
    return true;
  };
  if (!put(output_, run.output) || !put(errors_, run.errors)) {
    fail(Kind::kTool, "cannot write below '" + options_.folder + "': " + std::strerror(errno));
    return std::nullopt;
  }
  return std::move(run.execution);
}

}  // namespace duress::exec
