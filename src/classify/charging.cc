// SPDX-License-Identifier: Apache-2.0
//
// The batches that find out whether a failure of the schedule alone is the race's doing (charge.h): the same
// seeds without preemptions at the racing accesses, failing schedules with other values for the racing loads,
// and more of both until chance does not explain the difference, or the budget is used up.
#include <algorithm>

#include "classify/classify.h"

namespace duress::classify {
namespace {

constexpr u64 kFirstExtension = 50;
constexpr u64 kFewPreemptions = 100;          // trials
constexpr u64 kMostProfiled = 5;              // of those that fail, tried with every single value
constexpr std::size_t kMostPredictions = 32;  // values that are tried with one schedule
constexpr u64 kMostExtension = 16;            // times the budget

/// Whether trials can still change what its failures are charged to.
bool needs_more_trials(const Variable& variable) {
  std::vector<finding::Failure> failures = schedule_failures(variable);
  auto charged = [&](const finding::Failure& failure) {
    return charge_of(variable, failure).reason != Charge::Reason::kNone;
  };
  if (std::any_of(failures.begin(), failures.end(), charged)) return false;
  return std::any_of(failures.begin(), failures.end(),
                     [&](const finding::Failure& failure) { return worth_more(variable, failure); });
}

TrialList& extra_list(Variable& variable, const Attack& attack) {
  for (auto& [known, list] : variable.charge.by) {
    if (known.label() == attack.label()) return list;
  }
  return variable.charge.by.emplace_back(attack, TrialList{}).second;
}

}  // namespace

bool Classifier::run_trials(const char* phase, const std::vector<WantedTrial>& wanted) {
  return batch(phase, wanted.size(), [&](u64 i, exec::Worker& worker) {
    const WantedTrial& one = wanted[i];
    std::optional<Profile> none;
    *one.result = trials_.run(*pool_, worker, *one.variable, one.attack, one.number, none);
    return one.result->has_value();
  });
}

bool Classifier::run_unswitched(const Variables& wanted) {
  std::vector<WantedTrial> pieces;
  for (Variable* variable : wanted) {
    u64 begin = variable->no_switch_runs.size();
    variable->no_switch_runs.resize(std::max(begin, variable->sc.size()));
    for (u64 i = begin; i < variable->sc.size(); ++i)
      pieces.push_back({variable, no_switch_baseline(), i, &variable->no_switch_runs[i]});
  }
  return run_trials("schedules without switches at the race", pieces);
}

bool Classifier::extend(const Variables& wanted, u64 count) {
  std::vector<WantedTrial> pieces;
  auto add = [&](Variable* variable, const Attack& attack, TrialList& list) {
    list.resize(std::max<u64>(list.size(), count));
    for (u64 i = 0; i < count; ++i) {
      if (!list[i]) pieces.push_back({variable, attack, ChargeTrials::kFirstExtra + i, &list[i]});
    }
  };
  for (Variable* variable : wanted) {
    add(variable, baseline(), variable->charge.sc);
    add(variable, no_switch_baseline(), variable->charge.no_switch);
    for (const finding::Failure& failure : schedule_failures(*variable)) {
      if (std::optional<Attack> attack = most_mending(*variable, failure))
        add(variable, *attack, extra_list(*variable, *attack));
    }
  }
  return run_trials("more schedules", pieces);
}

bool Classifier::run_with_other_values(exec::Worker& worker, const Variable& variable,
                                       ReorderedSchedule& schedule) {
  std::optional<Profile> profile;
  bool profiled = false;
  for (Attack attack : attacks()) {
    if (!by_values(attack) || !attack.fair) continue;
    attack.strategy = schedule.by.strategy;
    std::optional<Trial> trial = trials_.run(*pool_, worker, variable, attack, schedule.number, profile);
    if (!trial) return false;
    bool budgeted = attack.strategy == baseline().strategy && schedule.number < ChargeTrials::kFirstExtra;
    schedule.executions += !budgeted && trial->outcome != TrialOutcome::kNothing;
    schedule.executions += !budgeted && attack.predicts() && !profiled;
    profiled = profiled || attack.predicts();
    schedule.take(*trial);
  }
  return true;
}

bool Classifier::run_each_value(exec::Worker& worker, const Variable& variable, ReorderedSchedule& schedule) {
  Attack attack = schedule.by;
  attack.model = ModelId::kFuture;
  attack.policy = Policy::kPerSite;
  std::optional<Profile> profile =
      trials_.profile(*pool_, worker, variable, attack.strategy, schedule.number);
  if (!profile) return false;
  ++schedule.executions;
  profile->resize(std::min(profile->size(), kMostPredictions));
  for (std::size_t i = 0; i < profile->size() && schedule.passed == 0; ++i) {
    std::optional<Trial> trial =
        trials_.run_prediction(*pool_, worker, variable, attack, schedule.number, (*profile)[i]);
    if (!trial) return false;
    ++schedule.executions;
    schedule.take(*trial);
  }
  return true;
}

bool Classifier::reorder(const Variables& wanted) {
  std::vector<std::pair<Variable*, ReorderedSchedule>> pieces;
  std::map<const Variable*, u64> few;  // how many schedules of each variable have few preemptions
  std::vector<bool> each_value;
  for (Variable* variable : wanted) {
    for (const FailingTrial& failing : to_reorder(*variable)) {
      pieces.push_back({variable, {failing.by, failing.number, failing.failure.id}});
      each_value.push_back(failing.by.label() == few_preemptions_baseline().label() &&
                           ++few[variable] <= kMostProfiled);
    }
  }
  bool done = batch("failing schedules with other values", pieces.size(), [&](u64 i, exec::Worker& worker) {
    auto& [variable, schedule] = pieces[i];
    return run_with_other_values(worker, *variable, schedule) &&
           (!each_value[i] || run_each_value(worker, *variable, schedule));
  });
  if (!done) return false;
  for (auto& [variable, schedule] : pieces) variable->charge.reordered.push_back(std::move(schedule));
  return true;
}

bool Classifier::run_few_preemptions(const Variables& wanted) {
  std::vector<WantedTrial> pieces;
  for (Variable* variable : wanted) {
    if (!needs_few_preemptions(*variable)) continue;
    TrialList& list = variable->charge.few_preemptions;
    u64 begin = list.size();
    list.resize(std::max<u64>(begin, kFewPreemptions));
    for (u64 i = begin; i < list.size(); ++i)
      pieces.push_back({variable, few_preemptions_baseline(), i, &list[i]});
  }
  return run_trials("schedules with few preemptions", pieces);
}

void Classifier::charge(const Variables& wanted) {
  Variables open;
  for (Variable* variable : wanted) {
    if (!schedule_failures(*variable).empty()) open.push_back(variable);
  }
  if (open.empty() || !run_unswitched(open) || !reorder(open)) return;
  if (!run_few_preemptions(open) || !reorder(open)) return;
  for (u64 count = kFirstExtension; count <= kMostExtension * setup_.runs; count *= 2) {
    std::erase_if(open, [](const Variable* variable) { return !needs_more_trials(*variable); });
    if (open.empty() || !extend(open, count) || !reorder(open)) return;
  }
}

void Classifier::note_program_failures() {
  std::set<std::string> ids;
  for (const auto& [name, variable] : variables()) {
    for (const finding::Failure& failure : schedule_failures(variable)) ids.insert(failure.id);
  }
  for (auto& [name, variable] : variables()) variable.program_failures = ids;
}

void Classifier::name_other_causes() {
  for (auto& [name, variable] : variables()) {
    variable.other_causes.clear();
    if (variable.witness() != nullptr) continue;
    for (const auto& [other, cause] : variables()) {
      const Witness* witness = cause.witness();
      std::vector<finding::Failure> failures = schedule_failures(variable);
      if (witness != nullptr &&
          std::any_of(failures.begin(), failures.end(), [&](const finding::Failure& failure) {
            return same_failure(failure, witness->failure);
          }))
        variable.other_causes.push_back(other);
    }
  }
}

}  // namespace duress::classify
