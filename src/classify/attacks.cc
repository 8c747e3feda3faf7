// SPDX-License-Identifier: Apache-2.0
#include "classify/attacks.h"

#include <algorithm>

namespace duress::classify {
namespace {

#define DURESS_NAMED(identifier, name, description) name,
constexpr const char* kModels[] = {DURESS_MODELS(DURESS_NAMED)};
constexpr const char* kHeuristics[] = {DURESS_HEURISTICS(DURESS_NAMED)};
#undef DURESS_NAMED

/// One extra trial in which a load may be stale for ever: what a compiler that reads it once would do.
constexpr u64 kUnfairTrials = 1;

Attack schedules(StrategyId strategy) {
  Attack attack;
  attack.strategy = strategy;
  return attack;
}

Attack stale(Heuristic heuristic, bool fair = true) {
  Attack attack;
  attack.model = Model::kStale;
  attack.heuristic = heuristic;
  attack.fair = fair;
  if (!fair) attack.most_trials = kUnfairTrials;
  return attack;
}

Attack future(Policy policy) {
  Attack attack;
  attack.model = Model::kFuture;
  attack.policy = policy;
  return attack;
}

Attack both(Heuristic heuristic, Policy policy) {
  Attack attack;
  attack.model = Model::kBoth;
  attack.heuristic = heuristic;
  attack.policy = policy;
  return attack;
}

}  // namespace

const char* name_of(Model model) {
  return kModels[raw(model)];
}

const char* name_of(Heuristic heuristic) {
  return kHeuristics[raw(heuristic)];
}

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

const std::vector<Attack>& attacks() {
  static const std::vector<Attack> table = {
      schedules(StrategyId::kRacefuzzer),
      stale(Heuristic::kOldest),
      stale(Heuristic::kOldestButDifferent),
      stale(Heuristic::kRandom),
      stale(Heuristic::kRandomButDifferent),
      future(Policy::kAll),
      future(Policy::kSelective),
      future(Policy::kPerSite),
      both(Heuristic::kRandom, Policy::kAll),
      both(Heuristic::kRandom, Policy::kSelective),
      stale(Heuristic::kOldest, false),
      stale(Heuristic::kOldestButDifferent, false),
      stale(Heuristic::kRandom, false),
      stale(Heuristic::kRandomButDifferent, false),
  };
  return table;
}

std::string Attack::name() const {
  if (model == Model::kFuture) return policy_name(policy);
  if (model == Model::kSc && strategy != StrategyId::kRandom) return exec::strategy_name(strategy);
  return name_of(heuristic);
}

std::string Attack::label() const {
  std::string text = std::string(name_of(model)) + " " + name();
  if (model == Model::kBoth) text += std::string("+") + policy_name(policy);
  if (!switched) text += " unswitched";
  return fair ? text : text + " unfair";
}

void Attack::apply(exec::Plan& plan) const {
  plan.head.model = model;
  plan.head.heuristic = heuristic;
  plan.head.strategy = strategy;
  plan.head.detect = model == Model::kSc ? trail::Detect::kNothing : trail::Detect::kClocks;
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
