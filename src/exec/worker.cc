// SPDX-License-Identifier: Apache-2.0
//
// A fork server that is gone is started again, and the run repeated; a run that kills its server three times
// is given up with a message. An execution is handed out only if something can be concluded from it.
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
#include <utility>

#include "exec/processor.h"
#include "exec/run_limit.h"
#include "exec/target_start.h"
#include "exec/usability.h"
#include "trail/ahead.h"

namespace duress::exec {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Kind = WorkerProblem::Kind;

constexpr u64 kMostOutput = u64{1} << 30;  // bytes of one run
constexpr double kLeastStartSeconds = 10;  // loading a large program on a busy machine
constexpr double kAheadSeconds = 0.2;      // for an execution that nobody has asked for yet

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

u64 size_of(const Descriptor& file) {
  struct stat info{};
  return fstat(file.get(), &info) == 0 ? static_cast<u64>(info.st_size) : 0;
}

bool was_undone(const Execution& execution) {
  return execution.record.rollback == trail::Rollback::kDone;
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
  share_processor(-1);
  stop_server();
  exchange_.reset();
  std::error_code ignored;
  if (!logs_.path().empty()) fs::remove_all(options_.folder, ignored);
}

bool Worker::fail(Kind kind, const std::string& text) {
  problem_ = {kind, text};
  return false;
}

bool Worker::prepare() {
  if (exchange_) return true;
  if (!prepare_files()) return false;
  std::string error;
  exchange_ = Exchange::make(error);
  return exchange_ ? true : fail(Kind::kTool, error);
}

bool Worker::prepare_files() {
  if (output_) return true;
  std::string error = logs_.make(options_.folder + "/logs");
  if (!error.empty()) return fail(Kind::kTool, error);
  captured_ = {options_.folder + "/out", options_.folder + "/err"};
  nothing_captured_ = {options_.folder + "/no-out", options_.folder + "/no-err"};
  for (const std::string& path : {nothing_captured_.output, nothing_captured_.errors}) {
    if (!write_file(path, "").empty()) return fail(Kind::kTool, cannot_write(options_.folder, errno));
  }
  int flags = O_RDWR | O_CREAT | O_APPEND | O_TRUNC | O_CLOEXEC;
  Descriptor output(open(captured_.output.c_str(), flags, 0600));
  Descriptor errors(open(captured_.errors.c_str(), flags, 0600));
  int problem = output && errors ? 0 : errno;
  if (problem == 0) problem = room_left(output);
  if (problem == 0) problem = room_left(errors);
  if (problem != 0) return fail(Kind::kTool, cannot_write(options_.folder, problem));
  output_ = std::move(output);
  errors_ = std::move(errors);
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
  start.options = "log_dir=" + logs_.path() + ":chain=" + options_.chain +
                  ":mode=controlled:request=" + exchange_->request_path() +
                  ":record=" + exchange_->record_path();
  if (!options_.rollback || rollback_failed_) start.options += ":rollback=0";
  processor_ = options_.processor >= 0 ? options_.processor : own_processor();
  // Not later: it may end at once, and what it says then is why.
  clear_output();
  problem_ = server_.start(std::move(start), processor_);
  answered_ = answers_each_ = false;
  return problem_.kind == Kind::kNone;
}

/// Of the last run.
void Worker::clear_output() {
  if (!std::exchange(wrote_, false)) return;
  empty(output_);
  empty(errors_);
}

void Worker::stop_server() {
  leftovers_ += server_.stop();
  end_leftovers();  // the run of a server that was killed
  kept_ = 0;
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
  if (wait == Wait::kGone && !answered_ && !server_.was_killed())
    fail(Kind::kEnded, ended_text("before it could be controlled"));
  if (wait == Wait::kReply && reply.pid <= 0)
    fail(Kind::kTool, options_.target[0] + " cannot be forked: too many processes, or too little memory");
  answered_ = answered_ || (wait == Wait::kReply && reply.pid > 0);
  if (wait == Wait::kReply && reply.pid > 0) return true;
  stop_server();
  return false;
}

/// Waits until the run has ended. False: see problem_, or the server is gone. `ahead`: others may follow it.
bool Worker::end_run(u64 most_steps, bool ahead, Execution& execution, trail::Reply& reply) {
  if (reply.status != -1) return true;  // it has ended already
  RunLimit limit(most_steps);
  u32 performed = 0;
  double left = options_.run_seconds;
  Wait wait;
  for (;;) {
    double part = ahead ? std::min(left, kAheadSeconds) : left;
    wait =
        server_.wait(part, reply, stop_, [&] { return size_of(output_) + size_of(errors_) > kMostOutput; });
    if (wait != Wait::kTimeout) break;
    if (u32 now = exchange_->performed(); now != performed) {
      performed = now;
      limit = RunLimit(most_steps);
      left = options_.run_seconds;
      continue;
    }
    if (performed != 0) break;  // it will be performed again with all its time, if it is asked for
    left -= part;
    if (left > 0) continue;
    if (!limit.goes_on(exchange_->steps())) break;
    left = options_.run_seconds;
  }
  if (wait == Wait::kReply) return true;
  if (wait == Wait::kGone) {
    stop_server();
    return false;
  }
  execution.flooded = wait == Wait::kFlooded;
  execution.timed_out = wait == Wait::kTimeout;
  kill(execution.pid, SIGKILL);
  // A server that was stopped, or is gone, does not answer. The next run starts a new one.
  if (server_.wait(5, reply, stop_) != Wait::kReply) stop_server();
  reply.status = SIGKILL;
  return wait != Wait::kStopped || fail(Kind::kStopped, "stopped");
}

/// Nothing of an earlier execution is left.
void Worker::begin_attempt() {
  if (ahead_.drop_last()) logs_.clear(server_.pid());
  clear_output();
  wrote_ = left_files_ = true;
}

/// The process has answered for that execution.
void Worker::end_attempt(Execution& execution) {
  // A process that was rolled back had started no other.
  if (was_undone(execution))
    kept_ = execution.pid;
  else
    leftovers_ += end_leftovers();
  wrote_ = !was_undone(execution) || execution.record.wrote != 0;
  execution.output_bytes = wrote_ ? size_of(output_) : 0;
  execution.error_bytes = wrote_ ? size_of(errors_) : 0;
}

std::optional<Execution> Worker::attempt(const Plan& plan, By by, const Lookahead& lookahead) {
  begin_attempt();
  // Where most executions make new accesses, performing them twice does not pay.
  bool pays = accesses_new_ < 16 || accesses_new_ * 4 < accesses_known_;
  if (by == By::kAny && kept_ != 0) by = By::kKept;
  std::vector<Plan> ahead;
  if (by == By::kKept && lookahead) ahead = plans_ahead(lookahead);
  if (!exchange_->put(plan, pays)) {
    fail(Kind::kTool, "a request of " + std::to_string(plan.trail.size()) + " choices is too long");
    return std::nullopt;
  }
  if (!ahead.empty()) ahead.resize(exchange_->put_ahead(ahead, pays));
  share_processor(by == By::kKept ? processor_ : -1);
  server_.request_run(by);
  trail::Reply reply{std::exchange(kept_, 0), -1};
  if (by != By::kKept && !begin_run(reply)) return std::nullopt;
  Execution execution;
  execution.pid = reply.pid;
  Clock::time_point start = Clock::now();
  bool ended = end_run(plan.head.most_steps, !ahead.empty(), execution, reply);
  if (ended && reply.status == -1) {  // it was no longer there: the server says that another one has begun
    execution.pid = reply.pid;
    ended = end_run(plan.head.most_steps, !ahead.empty(), execution, reply);
  }
  execution.status = reply.status;
  execution.seconds = since(start);
  if (exchange_->performed() != 0)
    return end_ahead(plan, std::move(ahead), pays, std::move(execution), ended);
  if (!ended) return std::nullopt;
  exchange_->take(execution);
  end_attempt(execution);
  note(execution, plan.head.skip_known && pays);
  answers_each_ = answers_each_ || (!ahead.empty() && quiet_in_a_row_ != 0);
  return execution;
}

/// An execution that is handed out.
void Worker::note(const Execution& execution, bool skips_known, bool ahead) {
  accesses_known_ += skips_known;
  if (options_.rollback_statistics) options_.rollback_statistics->add(execution.record, ahead);
  quiet_in_a_row_ = trail::is_quiet(execution.record) && execution.status == 0 ? quiet_in_a_row_ + 1 : 0;
}

bool Worker::serve(const Plan& plan) {
  if (!prepare()) return false;
  // A new server would sleep if it found the record of an execution.
  if (!server_.running()) exchange_->put(plan);
  return start_server();
}

std::optional<Execution> Worker::attempt_until_served(const Plan& plan, const Lookahead& lookahead) {
  for (int tries = 0; tries < 3; ++tries) {
    std::optional<Execution> execution = take_ahead(plan);
    if (!execution) {
      if (!serve(plan)) return std::nullopt;
      execution = attempt(plan, By::kAny, lookahead);
    }
    if (execution && plan.head.skip_known && execution->record.races_unchecked != 0)
      execution = check_races(plan, *execution);
    if (execution && rollback_check_.is_due(*execution)) execution = check_rollback(plan, *execution);
    if (execution || problem_.kind != Kind::kNone) return execution;
    ++restarts_;
  }
  fail(Kind::kEnded,
       ended_text(
           "three times in the middle of a run: it ends its parent process, which cannot be controlled, "
           "or something outside does; stop that, and run the same command again"));
  return std::nullopt;
}

std::optional<Execution> Worker::check_races(const Plan& plan, const Execution& execution) {
  drop_logs(execution);
  if (accesses_known_ != 0) --accesses_known_;
  ++accesses_new_;
  Plan all = plan;
  all.head.skip_known = false;
  all.head.learn_accesses = true;
  return attempt(all);
}

std::optional<Execution> Worker::check_rollback(const Plan& plan, const Execution& execution) {
  // Those that were ended, by us or from outside, show nothing.
  auto ended_itself = [](const Execution& one) {
    return !one.timed_out && !one.flooded && unexplained_signal(one) == 0;
  };
  if (!ended_itself(execution)) return execution;
  Observed rolled_back = Observed::of(execution, captured());
  drop_logs(execution);
  rollback_check_.forget_process();
  if (!serve(plan)) return std::nullopt;  // it was performed ahead, and the server is gone since
  std::optional<Execution> anew = attempt(plan, By::kNew);
  if (!anew || !ended_itself(*anew)) return anew;
  Observed expected = Observed::of(*anew, captured());
  if (rolled_back.equals(expected)) return anew;
  drop_logs(*anew);
  anew = attempt(plan, By::kNew);
  // A program that behaves differently in two new processes shows nothing about rollback.
  if (!anew || !ended_itself(*anew) || !Observed::of(*anew, captured()).equals(expected)) return anew;
  rollback_failed_ = true;
  ahead_.clear();
  if (options_.rollback_statistics) options_.rollback_statistics->add_difference();
  stop_server();
  return anew;
}

bool Worker::is_whole(const Execution& execution) {
  // Where every system call was seen, it is known that all was written.
  bool written = was_undone(execution) && execution.record.write_failed == 0;
  int error = written ? 0 : room_left(output_);
  if (error == 0 && !written) error = room_left(errors_);
  if (error != 0) return fail(Kind::kTool, cannot_write(options_.folder, error));
  // Lines are counted whether they get into the log or not, so none was lost.
  if (written && execution.record.log_bytes == 0 && execution.record.wrote == 0) return true;
  std::string why = logs_.problem(execution);
  return why.empty() || fail(Kind::kTool, why);
}

/// What the worker's options ask of a plan. False: nothing that it does not have.
bool Worker::adapt(Plan& plan) const {
  using trail::EarlyTimeouts;
  if (options_.early_timeouts == EarlyTimeouts::kShort || plan.head.early_timeouts != EarlyTimeouts::kShort)
    return false;
  plan.head.early_timeouts = options_.early_timeouts;
  return true;
}

std::optional<Execution> Worker::run(const Plan& plan, const Lookahead& lookahead) {
  problem_ = {};
  if (options_.early_timeouts != trail::EarlyTimeouts::kShort) {
    if (Plan own = plan; adapt(own)) return run(own, lookahead);
  }
  if (options_.remote) return run_remotely(plan);
  for (Deaths deaths;; ++repeats_) {
    std::optional<Execution> execution = attempt_until_served(plan, lookahead);
    if (!execution) return std::nullopt;
    std::string limit = limit_reached(*execution, options_.target[0], captured());
    if (!limit.empty() && !fail(Kind::kTool, limit)) return std::nullopt;
    Deaths::Next next = deaths.after(*execution, options_.target[0]);
    if (next == Deaths::Next::kGiveUp) fail(Kind::kTool, deaths.why());
    bool begun = execution->began() || execution->timed_out;
    if (next == Deaths::Next::kUse && !begun)
      fail(Kind::kEnded, options_.target[0] + " " + how_ended(execution->status) +
                             " before the execution began; its runtime may be of another version: rebuild "
                             "it, or run duress doctor");
    if (next == Deaths::Next::kUse && begun && is_whole(*execution)) return execution;
    drop_logs(*execution);
    if (next != Deaths::Next::kRepeat) return std::nullopt;
  }
}

Result Worker::run(const Plan& plan, const Oracle& oracle, Logs wanted, const Lookahead& lookahead) {
  std::optional<Execution> execution = run(plan, lookahead);
  if (!execution) return Result::Unusable{problem_};
  std::optional<finding::Failure> failure;
  std::string why = oracle.judge(*execution, captured(), failure, stop_);
  if (why == Oracle::kStopped) {
    drop_logs(*execution);
    fail(Kind::kStopped, why);
    return Result::Unusable{problem_};
  }
  finding::RunLogs logs;
  if (why.empty() && (failure || wanted == Logs::kAll)) {
    logs = take_logs(*execution);
    why = damage_of(logs.run);
  } else {
    drop_logs(*execution);
  }
  if (!why.empty()) {
    fail(Kind::kTool, why);
    return Result::Unusable{problem_};
  }
  if (!failure) return Result::Ended{std::move(*execution), std::move(logs)};
  return Result::Misbehaved{std::move(*execution), std::move(logs), std::move(*failure)};
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
  // Every process of an execution that was undone is known: it is the one that counts what it logs.
  bool has_log = options_.remote || !was_undone(execution) || execution.record.log_bytes != 0;
  finding::RunLogs logs;
  logs.pid = execution.pid;
  if (!left_files_) return logs;
  if (!has_log && no_logs_of_ == server_.pid()) return logs;
  logs = logs_.read(execution.pid);
  no_logs_of_ = !has_log && logs.run.processes.empty() && logs.run.problems.empty() ? server_.pid() : 0;
  // What stays would be taken for a log of the next execution.
  if (!logs_.clear(server_.pid())) logs.run.problems.push_back({logs_.path(), 0, "it cannot be removed"});
  return logs;
}

void Worker::drop_logs(const Execution& execution) {
  if (options_.remote)
    logs_.clear(server_.pid());
  else if (!was_undone(execution) || execution.record.log_bytes != 0)
    logs_.drop(execution.pid);
}

RemoteRun Worker::pack(std::optional<Execution> execution) {
  RemoteRun run;
  run.restarts = std::exchange(packed_restarts_, restarts_);
  run.restarts = restarts_ - run.restarts;
  run.leftovers = std::exchange(packed_leftovers_, leftovers_);
  run.leftovers = leftovers_ - run.leftovers;
  run.problem = problem_;
  if (!execution) return run;
  std::optional<std::string> output = read_file(captured().output), errors = read_file(captured().errors);
  bool whole = output && errors && logs_.read_files(run.logs);
  whole = logs_.clear(server_.pid()) && whole;  // what stays would be sent with the next run
  if (!whole) {
    run.problem = {Kind::kTool, "cannot read below '" + options_.folder + "': " + std::strerror(errno)};
    return run;
  }
  run.ran = true;
  run.output = std::move(*output);
  run.errors = std::move(*errors);
  run.execution = std::move(*execution);
  return run;
}

std::optional<Execution> Worker::run_remotely(const Plan& plan) {
  if (!prepare_files()) return std::nullopt;
  RemoteRun run = options_.remote->run(options_, plan, stop_);
  restarts_ += run.restarts;
  leftovers_ += run.leftovers;
  problem_ = run.problem;
  if (!run.ran) return std::nullopt;
  std::string error = logs_.write_files(run.logs);
  if (!error.empty() && !fail(Kind::kTool, error)) return std::nullopt;
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
    fail(Kind::kTool, cannot_write(options_.folder, errno));
    return std::nullopt;
  }
  return std::move(run.execution);
}

}  // namespace duress::exec
