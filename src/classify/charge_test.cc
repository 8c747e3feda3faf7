// SPDX-License-Identifier: Apache-2.0
#include "classify/charge.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace duress::classify {
namespace {

using Reason = Charge::Reason;

Trial failing(const std::string& id = "F-0001") {
  Trial trial;
  trial.outcome = TrialOutcome::kFailed;
  trial.failure.kind = "deadlock";
  trial.failure.id = id;
  return trial;
}

const finding::Failure kFailure = failing().failure;

/// `failed` of `runs`, the failing ones first.
TrialList share(u64 failed, u64 runs) {
  TrialList list(runs, Trial{});
  std::fill_n(list.begin(), std::min(failed, runs), failing());
  return list;
}

TrialList& of(Variable& variable, const std::string& label) {
  for (auto& [attack, trials] : variable.by) {
    if (attack.label() == label) return trials;
  }
  ADD_FAILURE() << label;
  return variable.sc;
}

/// Every attack fails as often as the schedule alone does: its values do nothing.
Variable indifferent(u64 failed, u64 runs) {
  Variable variable;
  variable.sc = variable.no_switch_runs = share(failed, runs);
  for (const Attack& attack : attacks())
    variable.by.push_back({attack, share(failed, std::min(runs, attack.most_trials))});
  return variable;
}

void add_reordered(Variable& variable, u64 count, u64 passed, const std::string& id = "F-0001") {
  for (u64 i = 0; i < count; ++i) variable.charge.reordered.push_back({baseline(), i, id, 4, passed, 4});
}

TEST(Charge, NeitherRatesNorSchedulesAreEnoughAlone) {
  Variable variable = indifferent(25, 50);
  add_reordered(variable, 1, 1);  // it passes with other values
  EXPECT_EQ(charge_of(variable, kFailure).reason, Reason::kNone);
  variable.no_switch_runs = share(0, 50);  // and does not come without preemptions
  Charge charge = charge_of(variable, kFailure);
  EXPECT_EQ(charge.reason, Reason::kSwitches);
  EXPECT_EQ(charge.with.failed, 25u);
  EXPECT_EQ(charge.without.failed, 0u);
  EXPECT_EQ(charge.without.runs, 50u);
  EXPECT_LT(charge.chance, 1e-6);
  variable.charge.reordered.clear();
  add_reordered(variable, 5, 0);
  EXPECT_EQ(charge_of(variable, kFailure).reason, Reason::kNone);
}

TEST(Charge, ThreeOfFiftyIsChance) {
  Variable variable = indifferent(3, 50);
  variable.no_switch_runs = share(0, 50);
  add_reordered(variable, 3, 1);
  EXPECT_EQ(charge_of(variable, kFailure).reason, Reason::kNone);
  EXPECT_TRUE(worth_more(variable, kFailure));
  variable.charge.sc = share(24, 400);
  variable.charge.no_switch = share(0, 400);
  EXPECT_EQ(charge_of(variable, kFailure).reason, Reason::kSwitches);
  EXPECT_EQ(charge_of(variable, kFailure).without.runs, 450u);
  EXPECT_FALSE(worth_more(variable, kFailure));
}

TEST(Charge, OtherValuesMendIt) {
  Variable variable = indifferent(20, 50);
  of(variable, "future All") = share(0, 50);
  add_reordered(variable, 1, 1);
  Charge charge = charge_of(variable, kFailure);
  EXPECT_EQ(charge.reason, Reason::kValues);
  EXPECT_EQ(charge.without.attack.label(), "future All");
  EXPECT_EQ(most_mending(variable, kFailure)->label(), "future All");
}

TEST(Charge, DiscardedTrialsAreNotMended) {
  // All that remains of the attack are the seeds that pass anyway.
  Variable variable = indifferent(20, 50);
  TrialList& list = of(variable, "future All");
  for (u64 i = 0; i < 20; ++i) list[i]->outcome = TrialOutcome::kDiscarded;
  add_reordered(variable, 1, 1);
  EXPECT_EQ(charge_of(variable, kFailure).reason, Reason::kNone);
}

TEST(Charge, ValuesThatNeverMatterEndTheSearch) {
  Variable variable = indifferent(30, 50);
  EXPECT_EQ(to_reorder(variable).size(), kMostReordered);
  EXPECT_TRUE(worth_more(variable, kFailure));
  add_reordered(variable, kMostReordered, 0);
  EXPECT_TRUE(to_reorder(variable).empty());
  EXPECT_FALSE(worth_more(variable, kFailure));
  // A free cannot be replaced: rates have to do.
  variable.freed = true;
  EXPECT_TRUE(worth_more(variable, kFailure));
  variable.no_switch_runs = share(0, 50);
  EXPECT_EQ(charge_of(variable, kFailure).reason, Reason::kSwitches);
}

TEST(Charge, SchedulesWithFewPreemptionsAreCountedByThemselves) {
  Variable variable = indifferent(30, 50);
  add_reordered(variable, kMostReordered, 0);
  EXPECT_TRUE(needs_few_preemptions(variable));
  variable.charge.few_preemptions = share(3, 10);
  std::vector<FailingTrial> wanted = to_reorder(variable);
  ASSERT_EQ(wanted.size(), 3u);
  EXPECT_EQ(wanted[0].by.label(), "sc pct");
  // One of them passes: that is the evidence that was missing.
  variable.charge.reordered.push_back({wanted[0].by, wanted[0].number, kFailure.id, 4, 1, 4});
  EXPECT_FALSE(needs_few_preemptions(variable));
  variable.no_switch_runs = share(0, 50);
  EXPECT_EQ(charge_of(variable, kFailure).reason, Reason::kSwitches);
}

TEST(Charge, EachFailureHasItsOwnEvidence) {
  Variable variable = indifferent(0, 50);
  variable.sc[0] = failing("F-0002");
  of(variable, "sc racefuzzer")[7] = failing();
  EXPECT_EQ(schedule_failures(variable).size(), 2u);
  std::vector<FailingTrial> wanted = to_reorder(variable);
  ASSERT_EQ(wanted.size(), 2u);
  EXPECT_EQ(wanted[0].number, 0u);
  EXPECT_EQ(wanted[1].number, 7u);
  EXPECT_EQ(wanted[1].by.strategy, StrategyId::kRacefuzzer);
  add_reordered(variable, 1, 1, "F-0002");
  EXPECT_EQ(to_reorder(variable).size(), 1u);
}

}  // namespace
}  // namespace duress::classify
