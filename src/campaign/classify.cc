// SPDX-License-Identifier: Apache-2.0
#include "campaign/classify.h"

#include "base/prng.h"
#include "campaign/minimiser.h"

namespace duress::campaign {
namespace {

constexpr u32 kStale = 1;  // memory::ModelId
// memory::HeuristicId, by number: host and target share only what is in the request.
constexpr const char* kHeuristics[] = {"SequentiallyConsistent", "Oldest", "OldestButDifferent", "Random",
                                       "RandomButDifferent"};

/// Steps that an execution may take: far more than any that is sequentially consistent took.
u64 step_budget(u64 longest) {
  return longest * 20 + 100000;
}

}  // namespace

Classifier::Classifier(ClassifySetup setup, Names& names, const std::atomic<bool>& stop, Progress progress)
    : setup_(std::move(setup)),
      names_(names),
      stop_(stop),
      progress_(std::move(progress)),
      oracle_(setup_.oracle),
      worker_(setup_.worker, &stop) {}

std::optional<Execution> Classifier::run(const Plan& plan) {
  std::optional<Execution> execution = worker_.run(plan);
  if (execution) ++runs_;
  return execution;
}

/// Anything but an end like those of sequentially consistent runs, output included.
std::optional<Failure> Classifier::failure_of(const Execution& execution, RunLogs& logs) {
  std::optional<Failure> failure = oracle_.judge(execution, worker_.captured());
  if (!failure && !outputs_.empty()) {
    std::string output = read_file(worker_.captured().output).value_or("");
    if (outputs_.count(output) == 0) {
      failure.emplace();
      failure->kind = "output";
      failure->text = "it printed what no sequentially consistent run printed";
    }
  }
  if (!failure) return std::nullopt;
  logs = worker_.take_logs(execution);
  identify(*failure, logs, names_);
  return failure;
}

bool Classifier::find() {
  if (std::string error = oracle_.load(); !error.empty()) return false;
  for (u64 i = 0; i < setup_.find_runs && !stop_; ++i) {
    Plan plan;
    plan.head.seed = mix(setup_.seed * 0x9e3779b97f4a7c15u + i);
    plan.head.strategy = raw(i % 2 ? StrategyId::kPct : StrategyId::kRandom);
    plan.head.depth = 1 + static_cast<u32>(i / 2 % 3);
    plan.head.detect = 1;
    progress_("", "looking for races", runs_);
    std::optional<Execution> execution = run(plan);
    if (!execution) return false;
    RunLogs logs = worker_.take_logs(*execution);
    for (const finding::ProcessLog& process : logs.run.processes) {
      incomplete_.insert(process.incomplete.begin(), process.incomplete.end());
      if (!process.races.empty()) races_.processes.push_back(process);
    }
    const finding::ProcessLog* process = logs.process();
    if (!process) continue;
    std::map<u32, std::string> variable_of;
    for (const SiteKey& site : logs.keys) variable_of[site.key] = names_.site(*process, site.site).variable;
    for (const trail::SitePair& pair : racing_pairs(logs)) {
      // The two sites may name it differently (a field, and what a pointer points at): the better name
      // counts.
      std::string a = variable_of[pair.first], b = variable_of[pair.second];
      std::string name = a.empty() || a[0] == '*' ? (b.empty() ? a : b) : a;
      Verdict& verdict = verdicts_[name];
      verdict.variable = name;
      verdict.sites.insert({pair.first, pair.second});
      verdict.pairs.insert({pair.first, pair.second});
    }
  }
  return true;
}

Plan Classifier::plan_of(const Verdict& verdict, u64 trial) const {
  Plan plan;
  plan.head.seed = mix(setup_.seed * 0x632be59bd9b4e019u + trial);
  plan.head.strategy = raw(StrategyId::kRandom);
  plan.head.detect = 1;
  plan.head.tear = setup_.tear;
  plan.head.most_steps = longest_ ? step_budget(longest_) : 0;
  plan.sites.assign(verdict.sites.begin(), verdict.sites.end());
  return plan;
}

void Classifier::confirm(Verdict& verdict) {
  for (u64 i = 0; i < setup_.confirm_runs && !verdict.confirmed && !stop_; ++i) {
    Plan plan = plan_of(verdict, i);
    plan.head.strategy = raw(StrategyId::kRacefuzzer);
    for (const auto& [first, second] : verdict.pairs) plan.pairs.push_back({first, second});
    progress_(verdict.variable, "bringing the accesses together", runs_);
    std::optional<Execution> execution = run(plan);
    if (!execution) return;
    verdict.confirmed = execution->record.races_created != 0;
    worker_.drop_logs(*execution);
  }
}

/// The schedules alone: what fails here needs no memory model.
void Classifier::baseline(Verdict& verdict) {
  outputs_.clear();
  longest_ = 0;
  std::set<std::string> outputs;
  verdict.counterfactual = {"sc", kHeuristics[0], true, 0, 0};
  for (u64 trial = 0; trial < setup_.trials && !stop_; ++trial) {
    progress_(verdict.variable, "sequentially consistent memory", runs_);
    Plan plan = plan_of(verdict, trial);
    plan.head.most_steps = 0;
    std::optional<Execution> execution = run(plan);
    if (!execution) return;
    ++verdict.counterfactual.runs;
    RunLogs logs;
    if (std::optional<Failure> failure = failure_of(*execution, logs)) {
      ++verdict.counterfactual.failed;
      if (verdict.verdict.empty()) {
        verdict.by = verdict.counterfactual;
        keep(verdict, plan, *execution, *failure, std::move(logs));
      }
      continue;
    }
    outputs.insert(read_file(worker_.captured().output).value_or(""));
    longest_ = std::max<u64>(longest_, execution->record.steps);
    worker_.drop_logs(*execution);
  }
  outputs_ = std::move(outputs);
  verdict.rates.push_back(verdict.counterfactual);
}

void Classifier::attack(Verdict& verdict, u32 heuristic, bool fair) {
  Rate rate = {"stale", kHeuristics[heuristic], fair, 0, 0};
  for (u64 trial = 0; trial < (fair ? setup_.trials : 1) && !stop_; ++trial) {
    progress_(verdict.variable, kHeuristics[heuristic], runs_);
    Plan plan = plan_of(verdict, trial);
    plan.head.model = kStale;
    plan.head.heuristic = heuristic;
    if (!fair) plan.head.fair_after = 0;
    std::optional<Execution> execution = run(plan);
    if (!execution) return;
    ++rate.runs;
    RunLogs logs;
    std::optional<Failure> failure = failure_of(*execution, logs);
    if (!failure) {
      worker_.drop_logs(*execution);
      continue;
    }
    ++rate.failed;
    // A crash says more than another output, and a replay shows it without the set of right ones.
    bool better = verdict.verdict.empty() || (verdict.failure.kind == "output" && failure->kind != "output");
    if (!better) continue;
    verdict.by = rate;
    keep(verdict, plan, *execution, *failure, std::move(logs));
  }
  verdict.rates.push_back(rate);
}

void Classifier::keep(Verdict& verdict, const Plan& plan, Execution& execution, Failure failure,
                      RunLogs logs) {
  verdict.verdict = "destructive";
  verdict.failure = std::move(failure);
  verdict.logs = std::move(logs);
  verdict.errors = read_file(worker_.captured().errors, 2000).value_or("");
  verdict.plan = plan;
  verdict.trail = std::move(execution.trail);
  verdict.switches = execution.record.switches;
  verdict.values = execution.record.stale_loads;
}

/// Fewest preemptions and fewest replaced values: both are deviations of one trail.
void Classifier::minimise(Verdict& verdict) {
  auto replay = [&](const Trail& trail) -> std::optional<Attempt> {
    if (stop_) return std::nullopt;
    progress_(verdict.variable, "making the witness small", runs_);
    std::optional<Execution> execution = run(verdict.plan.replaying(trail));
    if (!execution) return std::nullopt;
    RunLogs logs;
    std::optional<Failure> failure = failure_of(*execution, logs);
    if (!failure) worker_.drop_logs(*execution);
    Attempt attempt;
    attempt.same = failure && failure->kind == verdict.failure.kind;
    attempt.switches = execution->record.switches;
    attempt.choices = execution->record.choices;
    attempt.strands = execution->record.strands;
    attempt.trail = execution->trail;
    if (attempt.same && attempt.trail.size() <= verdict.trail.size()) {
      verdict.values = execution->record.stale_loads;
    }
    return attempt;
  };
  Minimised small = Minimiser(replay, 200).run(verdict.trail);
  if (small.confirmed) {
    verdict.trail = small.trail;
    verdict.switches = small.switches;
  }
  constexpr u64 kReplays = 20;
  for (u64 i = 0; i < kReplays && !stop_; ++i) {
    std::optional<Attempt> attempt = replay(verdict.trail);
    if (!attempt) return;
    ++verdict.replays;
    verdict.replayed += attempt->same;
  }
}

void Classifier::judge() {
  for (auto& [name, verdict] : verdicts_) {
    if (stop_) return;
    u64 before = runs_;
    confirm(verdict);
    baseline(verdict);
    // Schedules that fail alone say nothing about values: the counterfactual would fail too.
    if (verdict.counterfactual.failed == 0) {
      for (u32 heuristic = 1; heuristic < std::size(kHeuristics) && !stop_; ++heuristic) {
        attack(verdict, heuristic, true);
      }
      if (verdict.verdict.empty()) attack(verdict, 1, false);
    }
    if (verdict.verdict == "destructive") minimise(verdict);
    if (verdict.verdict.empty() && !stop_) verdict.verdict = "no-harm-found";
    verdict.runs = runs_ - before;
  }
}

}  // namespace duress::campaign
