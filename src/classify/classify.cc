// SPDX-License-Identifier: Apache-2.0
//
// Results must not depend on the number of workers, nor on where the campaign was killed. So the work is a
// sequence of batches; the content of a batch follows from the results of earlier ones, and its results are
// evaluated in order of their numbers after it has ended.
#include "classify/classify.h"

#include <algorithm>
#include <filesystem>

#include "exec/clock.h"
#include "exec/files.h"
#include "exec/program.h"

namespace duress::classify {
namespace {

using exec::now;

using Kind = exec::WorkerProblem::Kind;

constexpr u64 kStage = 50;             // trials by which baselines grow
constexpr double kAttackShare = 0.85;  // of the time; the rest is for witnesses

}  // namespace

Classifier::Classifier(ClassifySetup setup, finding::Names& names, const std::atomic<bool>& stop,
                       Listener listener)
    : setup_(std::move(setup)),
      names_(names),
      stop_(stop),
      listener_(std::move(listener)),
      oracle_(setup_.oracle, setup_.worker.target[0]),
      pool_(std::make_unique<exec::WorkerPool>(setup_.worker, setup_.jobs)),
      // What the user says of the output is better than what the program happens to print.
      trials_(
          {setup_.seed, setup_.tear, setup_.oracle.check.empty() && setup_.oracle.expected_output.empty()},
          oracle_, names_, record_),
      finder_({setup_.seed, setup_.find.runs, setup_.find.hybrid_runs}, oracle_, names_, record_) {
  started_ = now();
  if (setup_.seconds > 0) deadline_ = started_ + kAttackShare * setup_.seconds;
}

Classifier::~Classifier() = default;

double Classifier::seconds() const {
  return now() - started_;
}

u64 Classifier::fresh_runs() const {
  return pool_->executions() + hybrid_runs_;
}

/// Where the program runs.
std::string Classifier::folder() const {
  std::error_code ignored;
  return setup_.worker.start_in.empty() ? std::filesystem::current_path(ignored).string()
                                        : setup_.worker.start_in;
}

std::string Classifier::key() const {
  std::string text;
  for (const std::string& word : setup_.worker.target) text += word + '\2';
  for (const std::string& variable : setup_.environment) text += variable + '\4';
  for (const std::string& part :
       {folder(), exec::build_of(setup_.binary),
        setup_.worker.input.empty() ? std::string() : std::to_string(exec::hash_of_file(setup_.worker.input)),
        std::to_string(setup_.worker.run_seconds), std::to_string(raw(setup_.worker.early_timeouts)),
        std::to_string(setup_.oracle.expect_exit), setup_.oracle.check,
        setup_.oracle.expected_output.empty()
            ? std::string()
            : std::to_string(exec::hash_of_file(setup_.oracle.expected_output))})
    text += part + '\3';
  return text;
}

std::string Classifier::open() {
  if (std::string error = oracle_.load(); !error.empty()) return error;
  CampaignName name{"classify", key(), setup_.seed, ""};
  for (const std::string& word : setup_.worker.target) name.shown += (name.shown.empty() ? "" : " ") + word;
  return record_.open(setup_.record_dir.empty() ? setup_.dir : setup_.record_dir, name);
}

bool Classifier::over() const {
  return stop_ || problem_.kind != Kind::kNone || (deadline_ > 0 && now() > deadline_);
}

bool Classifier::tick(const char* phase) {
  if (std::string error = record_.error(); !error.empty() && problem_.kind == Kind::kNone)
    problem_ = {Kind::kTool, error};
  ClassifyProgress progress;
  progress.phase = phase;
  progress.runs = fresh_runs();
  progress.seconds = seconds();
  double done = static_cast<double>(trials_.done()), planned = static_cast<double>(planned_);
  if (planned_ != 0 && done > 0 && done < planned)
    progress.left = (now() - attacking_since_) * (planned - done) / done;
  if (deadline_ > 0 && (progress.left == 0 || now() + progress.left > deadline_))
    progress.left = deadline_ - now();
  progress.variables = variables().size();
  progress.destructive = destructive_;
  progress.failing = failing_;
  listener_(progress);
  return !over();
}

bool Classifier::batch(const char* phase, u64 count, const exec::WorkerPool::Job& job) {
  if (over()) return false;
  bool done = pool_->run(count, job, [&] { return tick(phase); });
  tick(phase);
  if (problem_.kind == Kind::kNone && pool_->problem().kind != Kind::kStopped) problem_ = pool_->problem();
  return done && problem_.kind == Kind::kNone;
}

bool Classifier::find() {
  auto ticks = [&] { return tick("looking for races"); };
  bool done = finder_.run(*pool_, kPrecise, setup_.find.runs, ticks);
  problem_ = pool_->problem();
  if (done && has_analysis(kHybrid)) {
    exec::WorkerOptions options = setup_.worker;
    options.chain = kHybrid;
    options.folder += "/hybrid";
    exec::WorkerPool pool(options, setup_.jobs);
    done = finder_.run(pool, kHybrid, setup_.find.hybrid_runs, ticks);
    hybrid_runs_ = pool.executions();
    problem_ = pool.problem();
  }
  if (problem_.kind == Kind::kStopped) problem_ = {};
  if (std::string error = record_.error(); !error.empty()) problem_ = {Kind::kTool, error};
  if (!done) {
    out_of_time_ = !stop_ && problem_.kind == Kind::kNone;
    return false;
  }
  for (auto& [name, variable] : variables()) {
    for (const Attack& attack : setup_.attacks) {
      bool blind = attack.strategy == StrategyId::kRacefuzzer && variable.pairs.empty();
      if (!blind) variable.by.push_back({attack, {}});
    }
  }
  if (found().long_runs) {
    std::set<u32> racing;
    for (const auto& [name, variable] : variables())
      racing.insert(variable.sites.begin(), variable.sites.end());
    trials_.set_waits(std::move(racing));
  }
  confirm();
  if (problem_.kind != Kind::kNone) return false;
  finder_.drop_unconfirmed();
  if (setup_.coverage) cover();
  return problem_.kind == Kind::kNone;
}

void Classifier::keep(const std::function<bool(const Variable&)>& wanted) {
  std::erase_if(variables(), [&](const auto& entry) { return !wanted(entry.second); });
}

void Classifier::count_verdicts() {
  failing_ = destructive_ = 0;
  for (const auto& [name, variable] : variables()) {
    if (variable.witness() != nullptr)
      ++destructive_;
    else
      failing_ += !candidates_of(variable).empty();
  }
}

Classifier::Variables Classifier::undecided() {
  Variables open;
  for (auto& [name, variable] : variables()) {
    if (variable.witness() == nullptr) open.push_back(&variable);
  }
  return open;
}

void Classifier::classify() {
  const bool timed = setup_.seconds > 0;
  const u64 limit = timed && !setup_.runs_given ? ~u64{0} : setup_.runs;
  u64 stage = std::min(limit, kStage);
  const u64 least = std::min(kSlice, stage);
  Variables open = undecided();
  attacking_since_ = now();
  if (limit != ~u64{0}) {
    for (const Attack& attack : setup_.attacks) planned_ += std::min(limit, attack.most_trials);
    planned_ = (planned_ + limit) * open.size();
  }
  u64 reached = 0;
  while (reached < limit && !open.empty() && !over()) {
    u64 end = std::min(limit, reached + stage);
    run_baseline(open, reached, end);
    // With all the time there is, rates are worth knowing; else the time is for what is still open.
    const u64 each = timed ? kSlice : end - reached;
    for (u64 begin = reached; begin < end && !open.empty() && !over(); begin += each) {
      run_attacks(open, begin, std::min(end, begin + each));
      count_verdicts();
      if (!timed) continue;
      examine(open);
      open = undecided();
    }
    reached = end;
    if (!timed) stage *= 2;  // nothing is decided between stages: fewer of them leave fewer workers waiting
  }
  out_of_time_ = timed && !stop_ && now() > deadline_ && problem_.kind == Kind::kNone;
  if (timed) deadline_ = started_ + setup_.seconds;
  examine(undecided());
  name_other_causes();
  for (auto& [name, variable] : variables()) {
    variable.decided = all_there(variable.sc, least);
    for (const auto& [attack, list] : variable.by)
      variable.decided = variable.decided && all_there(list, std::min(least, attack.most_trials));
  }
  complete_ = !stop_ && !out_of_time_ && problem_.kind == Kind::kNone;
  if (!complete_) return;
  record_.finish();
  if (std::string error = record_.error(); !error.empty()) problem_ = {Kind::kTool, error};
}

u64 Classifier::runs() {
  u64 sum = found().runs + coverage_runs_;
  auto add = [&](const TrialList& list) {
    for (const std::optional<Trial>& trial : list) sum += trial && trial->outcome != TrialOutcome::kNothing;
  };
  for (const auto& [name, variable] : variables()) {
    add(variable.sc);
    add(variable.no_switch_runs);
    add(variable.extra_schedules);
    add(variable.charge.sc);
    add(variable.charge.no_switch);
    add(variable.charge.few_preemptions);
    for (const auto& [attack, list] : variable.charge.by) add(list);
    for (const ReorderedSchedule& schedule : variable.charge.reordered) sum += schedule.executions;
    std::size_t profiles = 0, fuzzed = 0;
    for (const auto& [attack, list] : variable.by) {
      add(list);
      if (attack.strategy == StrategyId::kRacefuzzer) fuzzed = list.size();
      if (attack.predicts()) profiles = std::max(profiles, list.size());
    }
    sum += profiles + variable.confirm_runs - std::min<u64>(variable.confirm_runs, fuzzed);
    for (const Witness& witness : variable.witnesses) sum += witness.executions;
  }
  return sum;
}

}  // namespace duress::classify
