// SPDX-License-Identifier: Apache-2.0
#include "search/shares.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace duress::search {
namespace {

const std::map<StrategyId, u32> kBase = {
    {StrategyId::kRandom, 4}, {StrategyId::kPos, 4}, {StrategyId::kGuided, 8}};

long count(const std::vector<StrategyId>& dealt, StrategyId strategy) {
  return std::count(dealt.begin(), dealt.end(), strategy);
}

TEST(Shares, WithoutNewsTheFixedOnes) {
  Shares shares;
  std::vector<StrategyId> dealt = shares.deal(160, 1, kBase);
  EXPECT_NEAR(count(dealt, StrategyId::kRandom), 40, 1);
  EXPECT_NEAR(count(dealt, StrategyId::kGuided), 80, 1);
}

TEST(Shares, WhoShowsSomethingNewGetsMoreAndNobodyLessThanHalf) {
  Shares shares;
  for (int i = 0; i < 10; ++i) {
    shares.note(StrategyId::kRandom, 5);
    shares.note(StrategyId::kPos, 0);
    shares.note(StrategyId::kGuided, 0);
  }
  std::vector<StrategyId> dealt = shares.deal(160, 1, kBase);
  EXPECT_NEAR(count(dealt, StrategyId::kRandom), 64, 2);
  EXPECT_NEAR(count(dealt, StrategyId::kPos), 32, 2);
  EXPECT_GE(count(dealt, StrategyId::kGuided), 40);
  for (int i = 0; i < 20; ++i) shares.end_round();  // it is long ago
  EXPECT_NEAR(count(shares.deal(160, 1, kBase), StrategyId::kRandom), 40, 1);
}

TEST(Shares, ASmallShareComesInSomeShortRounds) {
  Shares shares;
  std::map<StrategyId, u32> base = {{StrategyId::kRandom, 63}, {StrategyId::kPct, 1}};
  long times = 0;
  for (u64 seed = 0; seed < 200; ++seed) times += count(shares.deal(16, seed, base), StrategyId::kPct);
  EXPECT_NEAR(times, 50, 30);
}

}  // namespace
}  // namespace duress::search
