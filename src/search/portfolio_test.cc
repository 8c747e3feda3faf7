// SPDX-License-Identifier: Apache-2.0
#include "search/portfolio.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "catalog/heuristics.h"

namespace duress::search {
namespace {

TEST(Portfolio, Rounds) {
  EXPECT_EQ(Portfolio::round_end(0), 16u);
  EXPECT_EQ(Portfolio::round_end(15), 16u);
  EXPECT_EQ(Portfolio::round_end(16), 32u);
  EXPECT_EQ(Portfolio::round_begin(31), 16u);
  EXPECT_EQ(Portfolio::round_end(100), 128u);
  EXPECT_TRUE(Portfolio::detects(15));
  EXPECT_TRUE(Portfolio::detects(64));
  EXPECT_FALSE(Portfolio::detects(72));
}

TEST(Portfolio, SeedsDifferAndComeFromTheSeed) {
  Portfolio one({}), again({}), other({.seed = 2});
  std::set<u64> seeds;
  for (u64 i = 0; i < 1000; ++i) {
    seeds.insert(one.plan(i, {}).head.seed);
    EXPECT_EQ(one.plan(i, {}).head.seed, again.plan(i, {}).head.seed);
    EXPECT_NE(one.plan(i, {}).head.seed, other.plan(i, {}).head.seed);
  }
  EXPECT_EQ(seeds.size(), 1000u);
}

TEST(Portfolio, EveryStrategyHasItsTurnAndEveryPair) {
  Portfolio portfolio({});
  SearchState state{{{1, 2}, {1, 3}, {4, 4}}, 100};
  std::map<StrategyId, int> turns;
  std::set<u32> depths, pairs, single;
  int without_sites = 0;
  for (u64 i = 16; i < 1000; ++i) {
    exec::Plan plan = portfolio.plan(i, state);
    ++turns[plan.head.strategy];
    // Only runs that look for races may leave known ones out; they end a plain wait in another way.
    if (plan.sites.empty()) EXPECT_EQ(plan.head.points, trail::Points::kLongRuns);
    if (!plan.sites.empty()) EXPECT_EQ(plan.sites, (std::vector<u32>{1, 2, 3, 4}));
    without_sites += plan.sites.empty();
    if (plan.head.strategy == StrategyId::kPct) depths.insert(plan.head.depth);
    if (plan.head.strategy == StrategyId::kRacefuzzer) {
      pairs.insert(static_cast<u32>(plan.pairs.size()));
      if (plan.pairs.size() == 1) single.insert(plan.pairs[0].second);
    }
  }
  for (StrategyId id : {StrategyId::kPos, StrategyId::kRandom, StrategyId::kPlaces, StrategyId::kTurns})
    EXPECT_GT(turns[id], 100) << name_of(id);
  EXPECT_GT(turns[StrategyId::kPct], 50);
  EXPECT_GT(turns[StrategyId::kRacefuzzer], 50);
  EXPECT_LT(turns[StrategyId::kRacefuzzer], 100) << "it must not be steered by pairs for ever";
  EXPECT_EQ(without_sites, 24);
  EXPECT_EQ(depths, (std::set<u32>{1, 2, 3, 4}));
  EXPECT_EQ(pairs, (std::set<u32>{1, 3}));
  EXPECT_EQ(single, (std::set<u32>{2, 3, 4}));
}

TEST(Portfolio, HeuristicsInTurnOrTheOneThatIsAskedFor) {
  Portfolio none({}), all({.model = ModelId::kRc11}),
      one({.model = ModelId::kRc11, .heuristic = HeuristicId::kRandom});
  std::set<std::pair<HeuristicId, StrategyId>> together;
  std::map<HeuristicId, int> turns;
  for (u64 i = 0; i < 1000; ++i) {
    EXPECT_EQ(none.plan(i, {}).head.model, ModelId::kSc);
    EXPECT_EQ(one.plan(i, {}).head.heuristic, HeuristicId::kRandom);
    exec::Plan plan = all.plan(i, {});
    EXPECT_EQ(plan.head.model, ModelId::kRc11);
    EXPECT_EQ(plan.head.seed, none.plan(i, {}).head.seed);
    ++turns[plan.head.heuristic];
    together.insert({plan.head.heuristic, plan.head.strategy});
  }
  EXPECT_EQ(turns.size(), kCatalogSize<HeuristicId>);
  for (auto [heuristic, times] : turns) EXPECT_EQ(times, 200) << name_of(heuristic);
  EXPECT_EQ(together.size(), 25u);  // with pct, random, pos, places and turns
}

TEST(Portfolio, WithoutRacesNoRacefuzzer) {
  Portfolio portfolio({}), alone({.strategy = "racefuzzer"});
  for (u64 i = 0; i < 200; ++i) {
    EXPECT_NE(portfolio.plan(i, {}).head.strategy, StrategyId::kRacefuzzer);
    EXPECT_EQ(alone.plan(i, {}).head.strategy, StrategyId::kRandom);
  }
}

TEST(Portfolio, OneStrategyOnRequest) {
  Portfolio portfolio({.strategy = "pct", .depth = 5});
  for (u64 i = 0; i < 100; ++i) {
    EXPECT_EQ(portfolio.plan(i, {}).head.strategy, StrategyId::kPct);
    EXPECT_EQ(portfolio.plan(i, {}).head.depth, 5u);
  }
}

TEST(Portfolio, Learns) {
  SearchState state{{{5, 6}}, 3};
  Portfolio::learn({{{{1, 2}}, 10}, {{{5, 6}, {1, 2}}, 12}, {{}, 0}, {{}, 100000}}, state);
  ASSERT_EQ(state.pairs.size(), 2u);
  EXPECT_EQ(state.pairs[0].first, 1u);
  EXPECT_EQ(state.length, 12u);
  Portfolio::learn({}, state);
  EXPECT_EQ(state.length, 12u);
}

}  // namespace
}  // namespace duress::search
