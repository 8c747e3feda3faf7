// SPDX-License-Identifier: Apache-2.0
#include "classify/attacks.h"

#include <gtest/gtest.h>

#include <set>

namespace duress::classify {
namespace {

TEST(Attacks, NoTwoAreAlike) {
  std::set<std::string> labels{baseline().label(), no_switch_baseline().label()};
  EXPECT_EQ(labels.size(), 2u);
  for (const Attack& attack : attacks()) EXPECT_TRUE(labels.insert(attack.label()).second) << attack.label();
}

TEST(Attacks, ThoseThatPredictFollowEachOther) {
  // They share a profile, which is made once for each trial.
  int groups = 0;
  bool before = false;
  for (const Attack& attack : attacks()) {
    groups += attack.predicts() && !before;
    before = attack.predicts();
  }
  EXPECT_EQ(groups, 1);
}

TEST(Attacks, AreChosenByModelAndName) {
  EXPECT_EQ(attacks_of("", "").size(), attacks().size());
  for (const Attack& attack : attacks_of("stale", "")) EXPECT_EQ(attack.model, ModelId::kStale);
  ASSERT_EQ(attacks_of("stale", "Oldest").size(), 2u);  // and its unfair trial
  EXPECT_FALSE(attacks_of("stale", "Oldest")[1].fair);
  EXPECT_EQ(attacks_of("stale", "Oldest")[1].most_trials, 1u);
  EXPECT_EQ(attacks_of("", "All").size(), 2u);  // future, and both
  EXPECT_EQ(attacks_of("sc", "").size(), 1u);
  EXPECT_TRUE(attacks_of("sc", "Oldest").empty());
}

TEST(Attacks, APlanSaysIt) {
  exec::Plan plan;
  Attack unfair = attacks_of("stale", "RandomButDifferent")[1];
  unfair.apply(plan);
  EXPECT_EQ(plan.head.model, ModelId::kStale);
  EXPECT_EQ(plan.head.heuristic, HeuristicId::kRandomButDifferent);
  EXPECT_EQ(plan.head.fair_after, 0u);
  EXPECT_EQ(plan.head.detect, trail::Detect::kClocks);
}

}  // namespace
}  // namespace duress::classify
