// SPDX-License-Identifier: Apache-2.0
//
// A fork server that is gone is started again, and the run repeated; a run that kills its server twice is
// given up with a message.
#include "exec/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
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

constexpr u64 kMostOutput = u64{1} << 30;  // bytes of one run
constexpr double kLeastStartSeconds = 10;  // loading a large program on a busy machine

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

u64 size_of(const Descriptor& file) {
  struct stat info{};
  return fstat(file.get(), &info) == 0 ? static_cast<u64>(info.st_size) : 0;
}

void empty(const Descriptor& file) {
  if (size_of(file) != 0 && ftruncate(file.get(), 0) != 0) {
  }
}

}  // namespace

Worker::Worker(WorkerOptions options, const std::atomic<bool>* stop)
    : options_(std::move(options)), stop_(stop) {
  static std::once_flag once;
  std::call_once(once, [] {
    signal(SIGPIPE, SIG_IGN);  // a server that is gone is an error code
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
  if (server_.running()) return true;
  TargetStart start;
  start.argv = options_.target;
  start.folder = options_.start_in;
  start.input = options_.input;
  start.output = output_.get();
  start.errors = errors_.get();
  start.options = "log_dir=" + log_dir_ + ":chain=" + options_.chain +
                  ":mode=controlled:request=" + exchange_->request_path() +
                  ":record=" + exchange_->record_path();
  problem_ = server_.start(std::move(start), options_.processor);
  answered_ = false;
  return problem_.kind == Kind::kNone;
}

void Worker::stop_server() {
  leftovers_ += server_.stop();
}

/// The server's first reply: it has forked a process for the run. False: see problem_, or the server is gone.
bool Worker::begin_run(trail::Reply& reply) {
  double seconds = answered_ ? options_.run_seconds : std::max(options_.run_seconds, kLeastStartSeconds);
  Wait wait = server_.wait(seconds, reply, stop_);
  if (wait == Wait::kStopped) fail(Kind::kStopped, "stopped");
  if (wait == Wait::kTimeout)
    fail(Kind::kSilent,
         options_.target[0] + " does not answer: it runs, but did not reach main() within " +
             std::to_string(static_cast<int>(std::max(options_.run_seconds, kLeastStartSeconds))) +
             " s; give it more time with --run-timeout");
  if (wait == Wait::kGone && !answered_) fail(Kind::kEnded, ended_text("before it could be controlled"));
  if (wait == Wait::kReply && reply.pid <= 0)
    fail(Kind::kTool, options_.target[0] + " cannot be forked: too many processes, or too little memory");
  answered_ = answered_ || (wait == Wait::kReply && reply.pid > 0);
  if (wait == Wait::kReply && reply.pid > 0) return true;
  stop_server();
  return false;
}

/// Waits until the run has ended. False: see problem_, or the server is gone.
bool Worker::end_run(Execution& execution, trail::Reply& reply) {
  if (reply.status != -1) return true;  // it has ended already
  Wait wait = server_.wait(options_.run_seconds, reply, stop_,
                           [&] { return size_of(output_) + size_of(errors_) > kMostOutput; });
  if (wait == Wait::kReply) return true;
  if (wait == Wait::kGone) {
    stop_server();
    return false;
  }
  execution.flooded = wait == Wait::kFlooded;
  execution.timed_out = wait == Wait::kTimeout;
  kill(execution.pid, SIGKILL);
  if (server_.wait(5, reply, nullptr) != Wait::kReply) stop_server();  // the next run starts a new one
  reply.status = SIGKILL;
  return wait != Wait::kStopped || fail(Kind::kStopped, "stopped");
}

std::optional<Execution> Worker::attempt(const Plan& plan) {
  empty(output_);
  empty(errors_);
  if (!exchange_->put(plan)) {
    fail(Kind::kTool, "a request of " + std::to_string(plan.trail.size()) + " choices is too long");
    return std::nullopt;
  }
  server_.request_run();
  trail::Reply reply{};
  if (!begin_run(reply)) return std::nullopt;
  Execution execution;
  execution.pid = reply.pid;
  Clock::time_point start = Clock::now();
  if (!end_run(execution, reply)) return std::nullopt;
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
      fail(Kind::kEnded, options_.target[0] + " " + how_ended(execution->status) +
                             " before the execution began; its runtime may be of another version: rebuild "
                             "it, or run duress doctor");
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
  std::string text = options_.target[0] + " " + server_.end_text() + " " + what;
  // The end of its stderr often says why, the dynamic linker's messages above all.
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
    if (it->path().stem() != std::to_string(server_.pid())) fs::remove(it->path(), ignored);
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
