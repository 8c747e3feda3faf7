// SPDX-License-Identifier: Apache-2.0
//
// `duress classify` without its options and text: find the races, confirm each pair, attack each variable,
// examine its failures, and decide on a verdict. Without a failure the verdict is "no harm found", never
// "benign".
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "classify/find.h"
#include "classify/trial_runner.h"
#include "classify/verdict.h"
#include "exec/campaign_setup.h"
#include "report/coverage.h"

namespace duress::classify {

struct ClassifySetup : exec::CampaignSetup {
  std::string record_dir;                // "": dir
  std::string binary;                    // path of the program, for its content
  std::vector<std::string> environment;  // that was asked for; part of the campaign's name
  FindOptions find;
  std::vector<Attack> attacks;
  u64 seed = 1;
  u64 runs = 50;            // trials of each attack on each variable
  bool runs_given = false;  // else a limit of time alone ends the work
  u64 confirm_runs = 20;    // that try to confirm a pair
  u32 tear = 8;
  bool coverage = false;  // say which orders of threads were seen
};

struct ClassifyProgress {
  const char* phase = "";
  u64 runs = 0;  // of this invocation
  double seconds = 0;
  double left = 0;                                  // estimated seconds; 0: not known
  u64 variables = 0, failing = 0, destructive = 0;  // failing: not examined yet
};

inline constexpr u64 kSlice = 10;  // trials of each attack before the next variable gets its turn

/// Whether the first `count` trials were run.
bool all_there(const TrialList& list, u64 count);

class Classifier {
 public:
  /// Called ten times a second by the thread that classifies.
  using Listener = std::function<void(const ClassifyProgress&)>;

  Classifier(ClassifySetup setup, finding::Names& names, const std::atomic<bool>& stop, Listener listener);
  ~Classifier();

  /// Opens the record. "" or why it cannot be used.
  std::string open();
  /// Trials that an earlier part of the campaign left.
  u64 resumed() const { return record_.resumed(); }
  /// Finds races and confirms pairs. False: see problem(), or it was stopped.
  bool find();
  /// Restricts the classification to these.
  void keep(const std::function<bool(const Variable&)>& wanted);
  /// Attacks every variable within the budget; can be stopped at any time.
  void classify();

  const ClassifySetup& setup() const { return setup_; }
  const FoundRaces& found() { return finder_.found(); }
  /// With ClassifySetup::coverage, after find(); and why it could not be kept for the next campaign.
  const std::optional<report::Coverage>& coverage() const { return coverage_; }
  const std::string& coverage_error() const { return coverage_error_; }
  std::map<std::string, Variable>& variables() { return finder_.found().variables; }
  /// Why the campaign could not finish: the program, or the record.
  const exec::WorkerProblem& problem() const { return problem_; }
  bool out_of_time() const { return out_of_time_; }
  bool complete() const { return complete_; }
  /// Executions of the whole campaign, those before a kill included; the same however it was cut.
  u64 runs();
  /// Executions of this invocation.
  u64 fresh_runs() const;
  double seconds() const;
  u64 leftovers() const { return pool_->leftovers(); }
  u64 restarts() const { return pool_->restarts(); }

 private:
  struct Piece {
    Variable* variable;
    std::size_t begin, end;  // attacks; those that share a profile stay together
    u64 number;
  };
  struct WantedTrial {
    Variable* variable;
    Attack attack;
    u64 number;
    std::optional<Trial>* result;
  };
  using Variables = std::vector<Variable*>;

  bool over() const;
  bool tick(const char* phase);
  bool batch(const char* phase, u64 count, const exec::WorkerPool::Job& job);
  void confirm();
  /// Looks at the orders of threads in ordinary schedules, which may switch at racing accesses.
  void cover();
  /// Trials [begin, end) of sequentially consistent memory.
  void run_baseline(const Variables& variables, u64 begin, u64 end);
  void run_attacks(const Variables& variables, u64 begin, u64 end);
  /// Examines failing variables: schedules to compare with, witnesses.
  void examine(const Variables& variables);
  void compare_outputs(const Variables& variables);
  /// Finds out whether failures of the schedule alone are the races' doing.
  void charge(const Variables& variables);
  bool run_unswitched(const Variables& variables);
  bool extend(const Variables& variables, u64 count);
  bool reorder(const Variables& variables);
  /// The failing schedule with each kind of stale and future values.
  bool run_with_other_values(exec::Worker& worker, const Variable& variable, ReorderedSchedule& schedule);
  /// The same with every single value of the future for every single load, until it passes.
  bool run_each_value(exec::Worker& worker, const Variable& variable, ReorderedSchedule& schedule);
  bool run_few_preemptions(const Variables& variables);
  bool run_trials(const char* phase, const std::vector<WantedTrial>& wanted);
  void note_program_failures();
  void name_other_causes();
  Variables undecided();
  void count_verdicts();
  std::string key() const;
  std::string folder() const;

  ClassifySetup setup_;
  finding::Names& names_;
  const std::atomic<bool>& stop_;
  Listener listener_;
  exec::Oracle oracle_;
  CampaignRecord record_;
  std::unique_ptr<exec::WorkerPool> pool_;
  TrialRunner trials_;
  RaceFinder finder_;
  exec::WorkerProblem problem_;
  double started_ = 0, deadline_ = 0;
  double attacking_since_ = 0;
  u64 planned_ = 0;  // trials that the budget has; 0: as many as time allows
  bool out_of_time_ = false, complete_ = false;
  u64 failing_ = 0, destructive_ = 0, hybrid_runs_ = 0;
  std::optional<report::Coverage> coverage_;
  u64 coverage_runs_ = 0;
  std::string coverage_error_;
};

}  // namespace duress::classify
