// SPDX-License-Identifier: Apache-2.0
//
// duress::check by random executions: a portfolio of strategies, until an execution fails. One that has only
// a race is saved, and reported if nothing worse is found.
#include "catalog/models.h"
#include "catalog/portfolio.h"
#include "check/explorers.h"
#include "check/failure.h"
#include "check/point_learner.h"
#include "check/races.h"
#include "check/saved_race.h"
#include "memory/heuristics.h"
#include "runtime/runtime.h"
#include "sched/strategy.h"

namespace duress {
namespace {

/// What the i-th execution does. The first few are preemptible at any access, so that shared sites are
/// learned.
void plan(u64 i) {
  trail::Request& r = *check.request;
  const DuressCheck& c = *check.call;
  r = trail::Request();
  r.seed = mix(c.seed * 0x9e3779b97f4a7c15u + i);
  r.depth = c.depth;
  r.expected_choices = check.longest;
  r.most_steps = c.most_steps;
  bool all = c.all_points || i < 4;
  r.points = all ? trail::Points::kAll : trail::Points::kSync;
  StrategyId id = StrategyId::kRandom;
  if (std::optional<StrategyId> named = id_of<StrategyId>(c.strategy)) {
    id = *named;
  } else {
    id = portfolio::kClosure.strategy(i);
    r.depth = portfolio::kClosure.depth(i);
  }
  r.strategy = id;
  if (is_weak(c)) {  // five heuristics, and a cycle of four strategies: every combination comes
    r.model = ModelId::kRc11;
    r.heuristic = static_cast<HeuristicId>(i % kCatalogSize<HeuristicId>);
  }
}

/// The i-th execution. True: it failed, or has a race.
bool execute_planned(const DuressCheck& c, u64 i) {
  plan(i);
  bool failed = execute_closure();
  if (failed || !prefilter_race_possible()) return failed;
  if (!watch_with_clocks()) {
    watch_races(RaceWatch::kNone, learn_access);
    return false;
  }
  // Those that follow will show the race; the last one is run again.
  return i + 1 == c.runs && execute_closure();
}

}  // namespace

bool search(DuressCheck& c) {
  Deadline deadline(c.seconds);
  SavedRace race;
  for (u64 i = 0; i < c.runs; ++i) {
    if (i % 64 == 63 && deadline.passed()) break;
    bool failed = execute_planned(c, i);
    c.executions = i + 1;
    if (!failed) continue;
    if (check.raced) {
      race.save(i + 1);
      if (!is_weak(c)) watch_races(RaceWatch::kNone, learn_access);
      continue;
    }
    watch_races(is_weak(c) ? RaceWatch::kClocks : RaceWatch::kNone, nullptr);  // no more points are learned
    if (keep_trail()) {
      minimise();
      report_failure(c, i + 1);
    }
    return true;
  }
  return race.report(c);
}

}  // namespace duress
