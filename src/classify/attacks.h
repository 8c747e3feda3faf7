// SPDX-License-Identifier: Apache-2.0
//
// What is done to a racing variable. Each line of the table is one attack: a memory model, what chooses among
// the values it allows, and what chooses the threads.
#pragma once

#include <string>
#include <vector>

#include "catalog/heuristics.h"
#include "catalog/models.h"
#include "catalog/strategies.h"
#include "classify/predict.h"
#include "exec/plan.h"

namespace duress::classify {

struct Attack {
  ModelId model = ModelId::kSc;
  HeuristicId heuristic = HeuristicId::kSequentiallyConsistent;  // which stale value
  Policy policy = Policy::kNone;                                 // which value of the future
  StrategyId strategy = StrategyId::kRandom;
  bool fair = true;           // a load is not stale for ever
  u64 most_trials = ~u64{0};  // fewer than the budget has
  bool switched = true;       // the variable's accesses are schedule points
  bool predicts() const { return policy != Policy::kNone; }
  /// The name that `--heuristic` takes and that rates are listed under: "Oldest", "Selective".
  std::string name() const;
  /// All of it, no two alike: "stale Oldest unfair".
  std::string label() const;
  /// Sets the model and all that belongs to it.
  void apply(exec::Plan& plan) const;
};

/// Sequentially consistent memory and a thread at random: what every attack is compared with.
const Attack& baseline();
/// The same without a switch at the variable's accesses: does a failure of the schedule alone need them?
const Attack& no_switch_baseline();
/// The same with few preemptions. With many, the loads of the variable all would have to return other values
/// at once before a failing schedule passes.
const Attack& few_preemptions_baseline();
/// In the order in which they are tried.
const std::vector<Attack>& attacks();
/// Those of one model ("": all) and one heuristic or policy ("": all).
std::vector<Attack> attacks_of(const std::string& model, const std::string& heuristic);
/// What `--heuristic` takes.
std::vector<std::string> attack_names();

}  // namespace duress::classify
