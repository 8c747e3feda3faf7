// SPDX-License-Identifier: Apache-2.0
#include "classify/attacks.h"

#include <algorithm>

namespace duress::classify {
namespace {

/// One extra trial in which a load may be stale for ever: what a compiler that reads it once would do.
constexpr u64 kUnfairTrials = 1;

Attack schedules(StrategyId strategy) {
  Attack attack;
  attack.strategy = strategy;
  return attack;
}

Attack stale(HeuristicId heuristic, bool fair = true) {
  Attack attack;
  attack.model = ModelId::kStale;
  attack.heuristic = heuristic;
  attack.fair = fair;
  if (!fair) attack.most_trials = kUnfairTrials;
  return attack;
}

Attack future(Policy policy) {
  Attack attack;
  attack.model = ModelId::kFuture;
  attack.policy = policy;
  return attack;
}

Attack both(HeuristicId heuristic, Policy policy) {
  Attack attack;
  attack.model = ModelId::kBoth;
  attack.heuristic = heuristic;
  attack.policy = policy;
  return attack;
}

}  // namespace

const Attack& baseline() {
  static const Attack attack = schedules(StrategyId::kRandom);
  return attack;
}

const Attack& no_switch_baseline() {
  static const Attack attack = [] {
    Attack same = schedules(StrategyId::kRandom);
    same.switched = false;
    return same;
  }();
  return attack;
}

const Attack& few_preemptions_baseline() {
  static const Attack attack = schedules(StrategyId::kPct);
  return attack;
}

const std::vector<Attack>& attacks() {
  static const std::vector<Attack> table = [] {
    std::vector<Attack> list = {schedules(StrategyId::kRacefuzzer)};
    auto every_heuristic = [&list](bool fair) {
      for (u32 i = 0; i < kCatalogSize<HeuristicId>; ++i) {
        auto heuristic = static_cast<HeuristicId>(i);
        if (heuristic != HeuristicId::kSequentiallyConsistent) list.push_back(stale(heuristic, fair));
      }
    };
    every_heuristic(true);
    for (Policy policy : {Policy::kAll, Policy::kSelective, Policy::kPerSite}) list.push_back(future(policy));
    for (Policy policy : {Policy::kAll, Policy::kSelective})
      list.push_back(both(HeuristicId::kRandom, policy));
    every_heuristic(false);
    return list;
  }();
  return table;
}

std::string Attack::name() const {
  if (model == ModelId::kFuture) return policy_name(policy);
  if (model == ModelId::kSc && strategy != StrategyId::kRandom) return name_of(strategy);
  return name_of(heuristic);
}

std::string Attack::label() const {
  std::string text = std::string(name_of(model)) + " " + name();
  if (model == ModelId::kBoth) text += std::string("+") + policy_name(policy);
  if (!switched) text += " unswitched";
  return fair ? text : text + " unfair";
}

void Attack::apply(exec::Plan& plan) const {
  plan.head.model = model;
  plan.head.heuristic = heuristic;
  plan.head.strategy = strategy;
  plan.head.detect = model == ModelId::kSc ? trail::Detect::kNothing : trail::Detect::kClocks;
  if (!fair) plan.head.fair_after = 0;
}

std::vector<Attack> attacks_of(const std::string& model, const std::string& heuristic) {
  std::vector<Attack> chosen;
  for (const Attack& attack : attacks()) {
    bool named = attack.name() == heuristic || (attack.predicts() && policy_name(attack.policy) == heuristic);
    if ((model.empty() || model == name_of(attack.model)) && (heuristic.empty() || named))
      chosen.push_back(attack);
  }
  return chosen;
}

std::vector<std::string> attack_names() {
  std::vector<std::string> names;
  for (const Attack& attack : attacks()) {
    if (std::find(names.begin(), names.end(), attack.name()) == names.end()) names.push_back(attack.name());
  }
  return names;
}

}  // namespace duress::classify
