// SPDX-License-Identifier: Apache-2.0
//
// Results must not depend on how many trials run side by side, nor on where the campaign was killed. So the
// work is a sequence of batches; what is in a batch follows from the results of those before it, and results
// are looked at in the order of their numbers after the batch has ended.
#include "classify/classify.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "classify/witness.h"
#include "exec/files.h"

namespace duress::classify {
namespace {

using Kind = exec::WorkerProblem::Kind;

constexpr u64 kStage = 50;        // trials by which baselines grow
constexpr u64 kSlice = 10;        // trials of each attack before the next variable gets its turn
constexpr u64 kConfirmSlice = 4;  // likewise of racefuzzer
constexpr u64 kLeastWider = 100;  // schedules that are asked for another output
constexpr double kGrace = 30;     // seconds for witnesses when the time is over

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Steps that an execution may take: far more than any that is sequentially consistent took.
u64 step_budget(const TrialList& sc) {
  u64 longest = 0;
  for (const std::optional<Trial>& trial : sc) {
    if (trial && trial->passed()) longest = std::max(longest, trial->steps);
  }
  return longest * 20 + 20000;
}

bool all_there(const TrialList& list, u64 count) {
  return list.size() >= count && std::all_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count),
                                             [](const auto& t) { return t.has_value(); });
}

}  // namespace

Classifier::Classifier(ClassifySetup setup, finding::Names& names, const std::atomic<bool>& stop,
                       Listener listener)
    : setup_(std::move(setup)),
      names_(names),
      stop_(stop),
      listener_(std::move(listener)),
      oracle_(setup_.oracle),
      pool_(std::make_unique<exec::WorkerPool>(setup_.worker, setup_.jobs)),
      // What the user says of the output is better than what the program happens to print.
      trials_(
          {setup_.seed, setup_.tear, setup_.oracle.check.empty() && setup_.oracle.expected_output.empty()},
          oracle_, names_, record_),
      finder_({setup_.seed, setup_.find.runs, setup_.find.hybrid_runs}, oracle_, names_, record_) {
  started_ = now();
  if (setup_.seconds > 0) deadline_ = started_ + setup_.seconds;
}

Classifier::~Classifier() = default;

double Classifier::seconds() const {
  return now() - started_;
}

u64 Classifier::fresh_runs() const {
  return pool_->executions() + hybrid_runs_;
}

std::string Classifier::key() const {
  std::string text;
  for (const std::string& word : setup_.worker.target) text += word + '\2';
  for (const std::string& variable : setup_.environment) text += variable + '\4';
  std::error_code ignored;
  for (const std::string& part :
       {setup_.worker.start_in.empty() ? std::filesystem::current_path(ignored).string()
                                       : setup_.worker.start_in,
        std::to_string(exec::hash_of_file(setup_.binary)),
        setup_.worker.input.empty() ? std::string() : std::to_string(exec::hash_of_file(setup_.worker.input)),
        std::to_string(setup_.worker.run_seconds), std::to_string(setup_.oracle.expect_exit),
        setup_.oracle.check,
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
    progress.left = (now() - judging_since_) * (planned - done) / done;
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
  return true;
}

void Classifier::keep(const std::function<bool(const Variable&)>& wanted) {
  std::erase_if(variables(), [&](const auto& entry) { return !wanted(entry.second); });
}

void Classifier::confirm() {
  Attack racefuzzer;
  racefuzzer.strategy = StrategyId::kRacefuzzer;
  for (u64 begin = 0; begin < setup_.confirm_runs; begin += kConfirmSlice) {
    Variables apart;
    for (auto& [name, variable] : variables()) {
      if (variable.confirmed_pairs.size() < variable.pairs.size()) apart.push_back(&variable);
    }
    if (apart.empty()) return;
    std::vector<Trial> results(apart.size() * kConfirmSlice);
    bool done = batch("bringing accesses together", results.size(), [&](u64 i, exec::Worker& worker) {
      std::optional<Profile> none;
      std::optional<Trial> trial =
          trials_.run(*pool_, worker, *apart[i / kConfirmSlice], racefuzzer, begin + i % kConfirmSlice, none);
      if (trial) results[i] = std::move(*trial);
      return trial.has_value();
    });
    if (!done) return;
    for (Variable* variable : apart) variable->confirm_runs = begin + kConfirmSlice;
    for (std::size_t i = 0; i < results.size(); ++i) {
      for (const trail::SitePair& pair : results[i].created)
        apart[i / kConfirmSlice]->confirmed_pairs.insert(std::minmax(pair.first, pair.second));
    }
  }
}

void Classifier::run_baseline(const Variables& wanted, u64 begin, u64 end) {
  for (Variable* variable : wanted) variable->sc.resize(end);
  u64 each = end - begin;
  batch("sequentially consistent memory", wanted.size() * each, [&](u64 i, exec::Worker& worker) {
    Variable& variable = *wanted[i / each];
    std::optional<Profile> none;
    std::optional<Trial>& trial = variable.sc[begin + i % each];
    trial = trials_.run(*pool_, worker, variable, baseline(), begin + i % each, none);
    return trial.has_value();
  });
  // Fixed from then on: a trial must not depend on how far the baseline has come.
  for (Variable* variable : wanted) {
    if (begin == 0 && all_there(variable->sc, end)) variable->most_steps = step_budget(variable->sc);
  }
}

void Classifier::run_attacks(const Variables& wanted, u64 begin, u64 end) {
  std::vector<Piece> pieces;
  auto add = [&](Variable* variable, u64 number) {
    for (std::size_t a = 0; a < variable->by.size();) {
      auto& [attack, list] = variable->by[a];
      std::size_t last = a + 1;
      while (attack.predicts() && last < variable->by.size() && variable->by[last].first.predicts()) ++last;
      if (number < attack.most_trials) pieces.push_back({variable, a, last, number});
      a = last;
    }
  };
  Variables ready;
  for (Variable* variable : wanted) {
    if (!all_there(variable->sc, end)) continue;
    ready.push_back(variable);
    for (auto& [attack, list] : variable->by) list.resize(std::min(end, attack.most_trials));
  }
  // In slices, so that a campaign that is cut short knows something of every variable.
  for (u64 slice = begin; slice < end; slice += kSlice) {
    for (Variable* variable : ready) {
      for (u64 number = slice; number < std::min(end, slice + kSlice); ++number) add(variable, number);
    }
  }
  batch("attacking", pieces.size(), [&](u64 i, exec::Worker& worker) {
    Piece& piece = pieces[i];
    std::optional<Profile> profile;
    for (std::size_t a = piece.begin; a < piece.end; ++a) {
      auto& [attack, list] = piece.variable->by[a];
      list[piece.number] = trials_.run(*pool_, worker, *piece.variable, attack, piece.number, profile);
      if (!list[piece.number]) return false;
    }
    return true;
  });
}

void Classifier::compare_schedules(const Variables& wanted) {
  Variables fails, prints;
  for (Variable* variable : wanted) {
    if (schedule_fails(*variable) && variable->no_switch_runs.size() < variable->sc.size())
      fails.push_back(variable);
  }
  std::vector<std::pair<Variable*, u64>> pieces;
  for (Variable* variable : fails) {
    for (u64 i = variable->no_switch_runs.size(); i < variable->sc.size(); ++i)
      pieces.push_back({variable, i});
    variable->no_switch_runs.resize(variable->sc.size());
  }
  batch("schedules without switches at the race", pieces.size(), [&](u64 i, exec::Worker& worker) {
    auto [variable, number] = pieces[i];
    std::optional<Profile> none;
    variable->no_switch_runs[number] =
        trials_.run(*pool_, worker, *variable, no_switch_baseline(), number, none);
    return variable->no_switch_runs[number].has_value();
  });

  pieces.clear();
  for (Variable* variable : wanted) {
    u64 most = std::max<u64>(kLeastWider, 2 * variable->sc.size());
    if (!only_output(candidates_of(*variable))) continue;
    for (u64 i = variable->extra_schedules.size(); i < most; ++i) pieces.push_back({variable, i});
    variable->extra_schedules.resize(std::max<std::size_t>(most, variable->extra_schedules.size()));
  }
  batch("schedules that print other things", pieces.size(), [&](u64 i, exec::Worker& worker) {
    auto [variable, number] = pieces[i];
    variable->extra_schedules[number] = trials_.run_extra_schedule(*pool_, worker, *variable, number);
    return variable->extra_schedules[number].has_value();
  });
}

void Classifier::look_closely(const Variables& wanted) {
  compare_schedules(wanted);
  Variables failing;
  for (Variable* variable : wanted) {
    if (!candidates_of(*variable).empty()) failing.push_back(variable);
  }
  batch("making witnesses small", failing.size(), [&](u64 i, exec::Worker& worker) {
    Variable& variable = *failing[i];
    for (std::vector<Candidate> rest = candidates_of(variable); !rest.empty();
         rest = candidates_of(variable)) {
      std::optional<Witness> witness =
          WitnessExaminer(trials_, record_, *pool_, worker, variable).examine(rest.front());
      if (!witness) return false;
      variable.witnesses.push_back(std::move(*witness));
    }
    return true;
  });
  count_verdicts();
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

Classifier::Variables Classifier::open_ones() {
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
  Variables open = open_ones();
  judging_since_ = now();
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
      look_closely(open);
      open = open_ones();
    }
    reached = end;
    if (!timed) stage *= 2;  // nothing is decided between stages: fewer of them leave fewer workers waiting
  }
  out_of_time_ = timed && !stop_ && now() > deadline_ && problem_.kind == Kind::kNone;
  if (out_of_time_) deadline_ = now() + kGrace;
  look_closely(open_ones());
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
  u64 sum = found().runs;
  auto add = [&](const TrialList& list) {
    for (const std::optional<Trial>& trial : list) sum += trial && trial->outcome != TrialOutcome::kNothing;
  };
  for (const auto& [name, variable] : variables()) {
    add(variable.sc);
    add(variable.no_switch_runs);
    add(variable.extra_schedules);
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
