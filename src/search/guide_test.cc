// SPDX-License-Identifier: Apache-2.0
#include "search/guide.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace duress::search {
namespace {

using trail::PlannedSwitch;
using Plan = std::vector<PlannedSwitch>;

/// Executes plans until none is left, with what `show` says of each.
template <typename Show>
std::vector<Plan> go_through(Guide& guide, const Show& show, u64 most = 10'000, u64 seed = 1) {
  std::vector<Plan> done;
  while (done.size() < most) {
    std::vector<u32> next = guide.next(16, mix(seed + done.size()));
    if (next.empty()) break;
    for (u32 node : next) {
      done.push_back(guide.plan(node));
      Observation seen = show(done.back());
      guide.learn(node, &seen, false);
    }
  }
  return done;
}

u64 hash_of(const Plan& plan) {
  u64 hash = 1;
  for (const PlannedSwitch& one : plan) hash = mix(hash + (u64{one.place} << 32 | one.visit << 8 | one.to));
  return hash;
}

TEST(Guide, TheEmptyPlanComesFirst) {
  Guide guide;
  ASSERT_EQ(guide.next(16, 1), std::vector<u32>{0});
  EXPECT_TRUE(guide.plan(0).empty());
}

TEST(Guide, AllPlansUpToTwoSwitchesEachOnce) {
  Guide guide;
  // Three places that are visited once, by one strand; two others can run.
  std::vector<Plan> done = go_through(guide, [](const Plan& plan) {
    Observation seen{hash_of(plan), {}, {}};
    if (plan.size() < 2) seen.points = {{1, 10, 1, 0, 6, 6}, {1, 11, 1, 0, 6, 6}, {1, 12, 1, 0, 6, 6}};
    return seen;
  });
  EXPECT_EQ(done.size(), 1u + 6u + 36u);
  std::set<u64> different;
  for (const Plan& plan : done) different.insert(hash_of(plan));
  EXPECT_EQ(different.size(), done.size());
  EXPECT_EQ(guide.untried().plans, 0u);
}

TEST(Guide, WhatIsEqualIsNotContinued) {
  Guide guide;
  std::vector<Plan> done = go_through(guide, [](const Plan& plan) {
    // Only a switch at place 11 changes anything.
    bool changes = plan.size() == 1 && plan[0].place == 11;
    return Observation{changes ? 2u : 1u, {}, {{1, 10, 1, 0, 2, 2}, {1, 11, 1, 0, 2, 2}}};
  });
  EXPECT_EQ(done.size(), 1u + 2u + 2u);
}

TEST(Guide, FirstAndLastVisitsBeforeThoseBetween) {
  Guide guide;
  std::vector<Plan> done = go_through(guide, [](const Plan& plan) {
    Observation seen{hash_of(plan), {}, {}};
    if (plan.empty()) seen.points = {{1, 10, 5, 0, 1, 1}, {1, 11, 100, 0, 1, 1}};
    return seen;
  });
  ASSERT_EQ(done.size(), 1u + 2u + 2u + 3u);  // of a hundred visits, those between are not tried
  std::multiset<u32> early;
  for (u32 i = 1; i < 4; ++i) early.insert(done[i][0].visit);
  EXPECT_EQ(early.count(3), 0u);
}

TEST(Guide, AFullGuideStaysFull) {
  Guide guide;
  go_through(
      guide,
      [](const Plan& plan) {
        Observation seen{hash_of(plan), {}, {}};
        for (u32 place = 1; place <= 200; ++place) seen.points.push_back({1, place, 3, 0, ~u64{0}, ~u64{0}});
        return seen;
      },
      500);
  EXPECT_TRUE(guide.is_full());
  EXPECT_GT(guide.untried().plans, 9'000u);
  EXPECT_EQ(guide.untried().switches, 1u);
  EXPECT_LE(guide.nodes().size(), 10'000u);
}

TEST(Guide, ComesBack) {
  Guide guide, back;
  go_through(
      guide, [](const Plan& plan) { return Observation{hash_of(plan), {}, {{1, 10, 3, 0, 6, 6}}}; }, 50);
  back.restore(guide.nodes(), guide.signatures());
  EXPECT_EQ(back.next(40, 7), guide.next(40, 7));
  back.restore({{5, 0, false, false, {}}}, {});  // damaged
  EXPECT_EQ(back.next(40, 7), std::vector<u32>{0});
}

}  // namespace
}  // namespace duress::search
