// SPDX-License-Identifier: Apache-2.0
//
// Is a race destructive? Find the races, bring each pair together, then run the program with older values for
// the loads of the racing variable, one heuristic after the other. What fails must pass with sequentially
// consistent memory under the same seeds: the counterfactual. Without a failure the verdict is "no harm
// found", never "benign".
#ifndef DURESS_CAMPAIGN_CLASSIFY_H_
#define DURESS_CAMPAIGN_CLASSIFY_H_

#include <atomic>
#include <functional>
#include <map>
#include <set>

#include "campaign/failure.h"
#include "campaign/files.h"
#include "campaign/names.h"
#include "campaign/oracle.h"
#include "campaign/worker.h"

namespace duress::campaign {

struct ClassifySetup {
  WorkerOptions worker;
  OracleOptions oracle;
  u64 seed = 1;
  u64 find_runs = 32;     // that look for races
  u64 trials = 50;        // of each heuristic and of the baseline
  u64 confirm_runs = 20;  // that try to bring a pair together
  u32 tear = 8;
};

struct Rate {
  std::string model, heuristic;
  bool fair = true;
  u64 failed = 0, runs = 0;
};

/// What is known of one racing variable.
struct Verdict {
  std::string variable;
  std::set<u32> sites;                  // keys
  std::set<std::pair<u32, u32>> pairs;  // of keys
  bool confirmed = false;               // a pair was brought together
  std::string verdict;                  // "destructive", "no-harm-found"
  u64 runs = 0;
  std::vector<Rate> rates;
  Rate counterfactual;  // the same seeds with sequentially consistent memory
  // Of a destructive one:
  Failure failure;
  RunLogs logs;
  std::string errors;
  Rate by;  // the heuristic that showed it first
  Plan plan;
  Trail trail;
  u64 switches = 0, values = 0;  // of the minimised execution: preemptions, replaced values
  u64 replayed = 0, replays = 0;
  std::string token;  // or "@FILE"; set when it is kept
};

/// The document of a report with a verdict and its evidence for each race.
std::string with_verdicts(const std::string& document, const std::map<std::string, Verdict>& verdicts,
                          bool complete);

class Classifier {
 public:
  /// Tells what goes on: the variable, what is done to it, runs so far.
  using Progress = std::function<void(const std::string& variable, const char* doing, u64 runs)>;

  Classifier(ClassifySetup setup, Names& names, const std::atomic<bool>& stop, Progress progress);

  /// Runs that detect: the logs with races, in order. Fills the variables.
  bool find();
  /// Judges every variable; can be stopped in between.
  void judge();

  const finding::RunLog& races() const { return races_; }
  std::map<std::string, Verdict>& verdicts() { return verdicts_; }
  const WorkerProblem& problem() const { return worker_.problem(); }
  u64 runs() const { return runs_; }
  const std::set<std::string>& incomplete() const { return incomplete_; }

 private:
  std::optional<Execution> run(const Plan& plan);
  std::optional<Failure> failure_of(const Execution& execution, RunLogs& logs);
  Plan plan_of(const Verdict& verdict, u64 trial) const;
  void confirm(Verdict& verdict);
  void baseline(Verdict& verdict);
  void attack(Verdict& verdict, u32 heuristic, bool fair);
  void keep(Verdict& verdict, const Plan& plan, Execution& execution, Failure failure, RunLogs logs);
  void minimise(Verdict& verdict);

  ClassifySetup setup_;
  Names& names_;
  const std::atomic<bool>& stop_;
  Progress progress_;
  Oracle oracle_;
  Worker worker_;
  finding::RunLog races_;
  std::map<std::string, Verdict> verdicts_;
  std::set<std::string> outputs_;  // what sequentially consistent runs of the variable at hand printed
  u64 longest_ = 0;                // steps of these
  u64 runs_ = 0;
  std::set<std::string> incomplete_;
};

}  // namespace duress::campaign

#endif  // DURESS_CAMPAIGN_CLASSIFY_H_
