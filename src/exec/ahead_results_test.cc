// SPDX-License-Identifier: Apache-2.0
#include "exec/ahead_results.h"

#include <gtest/gtest.h>

#include "exec/testing/every_field.h"

namespace duress::exec {
namespace {

Plan numbered(u64 seed) {
  Plan plan = testing::plan_with_every_field();
  plan.head.seed = seed;
  return plan;
}

Execution of_pid(int pid) {
  Execution execution;
  execution.pid = pid;
  return execution;
}

TEST(AheadResults, EachIsFoundOnceByItsPlan) {
  AheadResults results;
  EXPECT_TRUE(results.empty());
  for (int i = 0; i < 20; ++i) results.add(numbered(static_cast<u64>(i)), of_pid(i), i % 2 == 0);
  for (int i = 19; i >= 0; --i) {
    std::optional<AheadResults::Result> result = results.take(numbered(static_cast<u64>(i)));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->execution.pid, i);
    EXPECT_EQ(result->skips_known, i % 2 == 0);
    EXPECT_FALSE(result->left_files);
    EXPECT_FALSE(results.take(numbered(static_cast<u64>(i))));
  }
  EXPECT_TRUE(results.empty());
}

TEST(AheadResults, APlanThatDiffersInAnythingIsAnotherOne) {
  AheadResults results;
  const Plan plan = numbered(1);
  results.add(plan, of_pid(1), false);
  auto differs = [&](auto change) {
    Plan other = plan;
    change(other);
    EXPECT_FALSE(results.take(other));
    EXPECT_FALSE(same_plan(plan, other));
  };
  differs([](Plan& p) { p.head.depth += 1; });
  differs([](Plan& p) { p.head.skip_known = !p.head.skip_known; });
  differs([](Plan& p) { p.sites.push_back(1); });
  differs([](Plan& p) { p.wait_sites.push_back(1); });
  differs([](Plan& p) { p.pairs.pop_back(); });
  differs([](Plan& p) { p.trail.emplace_back(); });
  differs([](Plan& p) { p.predictions.pop_back(); });
  differs([](Plan& p) { p.edits.pop_back(); });
  differs([](Plan& p) { p.planned.pop_back(); });
  differs([](Plan& p) { p.picks.pop_back(); });
  differs([](Plan& p) { p.origins.emplace_back(); });
  differs([](Plan& p) { p.spins.push_back(1); });
  EXPECT_TRUE(results.take(plan));
}

TEST(AheadResults, TheLastOneLeavesFilesUntilItIsDropped) {
  AheadResults results;
  results.add_last(numbered(1), of_pid(1), true);
  EXPECT_FALSE(results.empty());
  std::optional<AheadResults::Result> result = results.take(numbered(1));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->left_files && result->skips_known);
  EXPECT_FALSE(results.drop_last());
  results.add_last(numbered(2), of_pid(2), false);
  EXPECT_TRUE(results.drop_last());
  EXPECT_FALSE(results.take(numbered(2)));
}

TEST(AheadResults, ThereIsABound) {
  AheadResults results;
  Execution large;
  large.steps.resize(10000);
  u64 count = 0;
  while (results.has_room()) results.add(numbered(count++), large, false);
  EXPECT_LT(count, 100u);  // 64 MiB
  results.take(numbered(0));
  EXPECT_TRUE(results.has_room());
  results.clear();
  EXPECT_TRUE(results.empty());
  for (count = 0; results.has_room();) results.add(numbered(count++), of_pid(1), false);
  EXPECT_LT(count, 20000u);
}

}  // namespace
}  // namespace duress::exec
