// SPDX-License-Identifier: Apache-2.0
//
// A target's fork server and all that one thread of the host needs to run executions with it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/ahead_results.h"
#include "exec/captured.h"
#include "exec/exchange.h"
#include "exec/files.h"
#include "exec/fork_server.h"
#include "exec/log_folder.h"
#include "exec/oracle.h"
#include "exec/plan.h"
#include "exec/remote.h"
#include "exec/result.h"
#include "exec/rollback_check.h"
#include "exec/worker_problem.h"
#include "finding/run_logs.h"

namespace duress::exec {

struct WorkerOptions {
  std::vector<std::string> target;
  std::string folder;    // its own; made and removed by the worker
  std::string start_in;  // where the target starts; "": where we are
  std::string input;     // file for the target's standard input; "": /dev/null
  std::string chain = "FastTrack";
  trail::EarlyTimeouts early_timeouts = trail::EarlyTimeouts::kShort;
  bool rollback = true;  // a process may perform many executions, one after the other
  std::shared_ptr<RollbackStatistics> rollback_statistics;  // is told of each execution; none: nobody is
  double run_seconds = 10;                                  // a run that takes longer is ended
  int processor = -1;                      // on which of the allowed ones targets run; -1: any
  std::shared_ptr<RemoteExecutor> remote;  // who performs the executions; none: the worker itself
};

/// Threads: one at a time.
class Worker {
 public:
  explicit Worker(WorkerOptions options, const std::atomic<bool>* stop = nullptr);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Performs one execution, and judges it. `lookahead`: plans that the process may perform with it, for
  /// which the host will ask later; what comes of them is the same as if they were performed then.
  Result run(const Plan& plan, const Oracle& oracle, Logs logs = Logs::kOfFailures,
             const Lookahead& lookahead = {});
  /// Performs one execution; starts the server if there is none. One that was ended from outside is repeated.
  /// Nothing: it is not usable, see problem().
  std::optional<Execution> run(const Plan& plan, const Lookahead& lookahead = {});
  const WorkerProblem& problem() const { return problem_; }
  /// No plan that was looked ahead for will be asked for.
  void forget_ahead() { ahead_.clear(); }

  /// Files that hold what the last run printed.
  const Captured& captured() const { return left_files_ ? captured_ : nothing_captured_; }
  /// Reads the logs of the last run and removes them.
  finding::RunLogs take_logs(const Execution& execution);
  /// Removes them unread: a passing run's are of no use, and the folder must stay small.
  void drop_logs(const Execution& execution);
  /// The last run with all it left, to be carried elsewhere; its logs are removed.
  RemoteRun pack(std::optional<Execution> execution);
  /// Executions that were repeated because something outside had ended them.
  int repeats() const { return repeats_; }
  /// Times the server had to be started again, and processes that runs left behind: mentioned at the end.
  int restarts() const { return restarts_; }
  int leftovers() const { return leftovers_; }

 private:
  using Wait = ForkServer::Wait;
  using By = ForkServer::By;

  bool prepare();
  bool prepare_files();
  std::optional<Execution> run_remotely(const Plan& plan);
  bool start_server();
  void stop_server();
  void clear_output();
  bool begin_run(trail::Reply& reply);
  bool end_run(u64 most_steps, bool ahead, Execution& execution, trail::Reply& reply);
  /// One attempt; nothing with `problem_` set, or with it unset if the server was lost.
  std::optional<Execution> attempt(const Plan& plan, By by = By::kAny, const Lookahead& lookahead = {});
  void begin_attempt();
  void end_attempt(Execution& execution);
  void note(const Execution& execution, bool skips_known, bool ahead = false);
  bool adapt(Plan& plan) const;
  // ---- executions ahead (worker_ahead.cc)
  std::vector<Plan> plans_ahead(const Lookahead& lookahead);
  bool server_logs_nothing();
  std::optional<Execution> take_ahead(const Plan& plan);
  std::optional<Execution> end_ahead(const Plan& plan, std::vector<Plan> plans, bool skips_known,
                                     Execution last, bool ended);
  /// Repeats an execution whose races were not looked for, and which may have some.
  std::optional<Execution> check_races(const Plan& plan, const Execution& execution);
  /// Repeats an execution of a process that was rolled back in a new one. If that shows something else,
  /// nothing is rolled back from now on.
  std::optional<Execution> check_rollback(const Plan& plan, const Execution& execution);
  /// The same with a new server for one that was lost. Nothing: see problem_.
  std::optional<Execution> attempt_until_served(const Plan& plan, const Lookahead& lookahead);
  /// There is a server. False: see problem_.
  bool serve(const Plan& plan);
  /// What the execution left is whole; else see problem_.
  bool is_whole(const Execution& execution);
  bool fail(WorkerProblem::Kind kind, const std::string& text);
  std::string ended_text(const std::string& what) const;

  WorkerOptions options_;
  const std::atomic<bool>* stop_;
  std::unique_ptr<Exchange> exchange_;
  Captured captured_, nothing_captured_;
  LogFolder logs_;
  Descriptor output_, errors_;  // of the captured files, opened for appending
  ForkServer server_;
  RollbackCheck rollback_check_;
  bool rollback_failed_ = false;
  AheadResults ahead_;
  u32 quiet_in_a_row_ = 0;  // executions that left nothing but their records
  bool left_files_ = true;  // the last execution that was handed out left, or may have left, others
  u64 accesses_known_ = 0, accesses_new_ = 0;  // executions asked for with skip_known
  int kept_ = 0;           // process that has performed the last execution and is there for the next; 0: none
  bool answered_ = false;  // this server has run something
  bool answers_each_ = false;  // it performs no executions ahead
  bool wrote_ = true;          // the last execution may have left output
  pid_t no_logs_of_ = 0;       // this server has no log of its own
  int processor_ = -1;         // where it runs
  int restarts_ = 0, leftovers_ = 0, repeats_ = 0;
  int packed_restarts_ = 0, packed_leftovers_ = 0;  // of these, reported by pack()
  WorkerProblem problem_;
};

}  // namespace duress::exec
