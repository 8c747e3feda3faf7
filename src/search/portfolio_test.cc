// SPDX-License-Identifier: Apache-2.0
#include "search/portfolio.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "catalog/heuristics.h"
#include "trail/site_key.h"

namespace duress::search {
namespace {

/// All runs up to `runs`, as a search would deal them.
std::vector<exec::Plan> plans_of(const Portfolio& portfolio, u64 runs, const SearchState& state = {}) {
  std::vector<exec::Plan> plans;
  while (plans.size() < runs) {
    for (const Portfolio::Turn& turn : portfolio.deal(plans.size(), state))
      plans.push_back(portfolio.plan(plans.size(), turn, state));
  }
  plans.resize(runs);
  return plans;
}

/// Pairs that race, and a guide with plans enough.
SearchState learnt() {
  SearchState state{.pairs = {{1, 2}, {1, 3}, {4, 4}}, .length = 100};
  Observation seen{1, {}, {}};
  for (u32 place = 1; place <= 250; ++place) seen.points.push_back({1, place, 3, 0, 30, 30});
  state.guide.learn(0, &seen, false);
  return state;
}

TEST(Portfolio, Rounds) {
  EXPECT_EQ(Portfolio::round_end(0), 16u);
  EXPECT_EQ(Portfolio::round_end(15), 16u);
  EXPECT_EQ(Portfolio::round_end(16), 32u);
  EXPECT_EQ(Portfolio::round_begin(31), 16u);
  EXPECT_EQ(Portfolio::round_end(32), 64u);
  EXPECT_EQ(Portfolio::round_end(100), 128u);
  EXPECT_EQ(Portfolio::round_begin(100), 96u);
  EXPECT_EQ(Portfolio::round_begin(600), 576u);
  EXPECT_EQ(Portfolio::round_end(600), 640u);
  EXPECT_EQ(Portfolio::round_end(5000), 5120u);
  EXPECT_EQ(Portfolio::round_end(1'000'000), 1'003'520u);
  for (u64 i = 0; i < 5000; i = Portfolio::round_end(i)) {
    EXPECT_EQ(Portfolio::round_begin(i), i);
    EXPECT_EQ(Portfolio::round_begin(Portfolio::round_end(i) - 1), i);
  }
  EXPECT_TRUE(Portfolio::detects(15));
  EXPECT_TRUE(Portfolio::detects(64));
  EXPECT_TRUE(Portfolio::detects(79));
  EXPECT_FALSE(Portfolio::detects(80));
  EXPECT_FALSE(Portfolio::detects(40));
}

TEST(Portfolio, SeedsDifferAndComeFromTheSeed) {
  std::vector<exec::Plan> one = plans_of(Portfolio({}), 1000), again = plans_of(Portfolio({}), 1000),
                          other = plans_of(Portfolio({.seed = 2}), 1000);
  std::set<u64> seeds;
  u64 guided = 0;
  for (u64 i = 0; i < 1000; ++i) {
    guided += one[i].head.strategy == StrategyId::kGuided;
    seeds.insert(one[i].head.seed);
    EXPECT_EQ(one[i].head.seed, again[i].head.seed);
    EXPECT_NE(one[i].head.seed, other[i].head.seed);
  }
  EXPECT_GT(guided, 0u);
  EXPECT_EQ(seeds.size(), 1000u - guided + 1) << "plans of the guide begin alike";
}

TEST(Portfolio, EveryStrategyHasItsTurnAndEveryPair) {
  SearchState state = learnt();
  std::map<StrategyId, int> turns;
  std::set<u32> depths, pairs, single;
  int without_sites = 0, observed = 0;
  std::vector<exec::Plan> plans = plans_of(Portfolio({}), 1000, state);
  for (u64 i = 16; i < 1000; ++i) {
    const exec::Plan& plan = plans[i];
    ++turns[plan.head.strategy];
    // Only runs that look for races may leave known ones out; they end a plain wait in another way.
    if (plan.sites.empty()) EXPECT_EQ(plan.head.points, trail::Points::kLongRuns);
    if (!plan.sites.empty()) EXPECT_EQ(plan.sites, (std::vector<u32>{1, 2, 3, 4}));
    without_sites += plan.sites.empty();
    EXPECT_EQ(plan.head.strategy == StrategyId::kGuided, plan.planned.size() == 1);
    EXPECT_TRUE(plan.head.observe || plan.head.strategy != StrategyId::kGuided);
    observed += plan.head.observe && plan.head.strategy != StrategyId::kGuided;
    if (plan.head.strategy == StrategyId::kPct) depths.insert(plan.head.depth);
    if (plan.head.strategy == StrategyId::kRacefuzzer) {
      pairs.insert(static_cast<u32>(plan.pairs.size()));
      if (plan.pairs.size() == 1) single.insert(plan.pairs[0].second);
    }
  }
  for (StrategyId id : {StrategyId::kPos, StrategyId::kRandom, StrategyId::kPlaces, StrategyId::kTurns})
    EXPECT_GT(turns[id], 70) << name_of(id);
  EXPECT_GT(turns[StrategyId::kGuided], 250);
  EXPECT_LT(turns[StrategyId::kGuided], 500);
  EXPECT_GT(turns[StrategyId::kPct], 30);
  EXPECT_GT(turns[StrategyId::kRacefuzzer], 15);
  EXPECT_LT(turns[StrategyId::kRacefuzzer], 100) << "it must not be steered by pairs for ever";
  EXPECT_GT(observed, 50);
  EXPECT_LT(observed, 250) << "it costs time";
  EXPECT_EQ(without_sites, 40);
  EXPECT_EQ(depths, (std::set<u32>{1, 2, 3, 4}));
  EXPECT_EQ(pairs, (std::set<u32>{1, 3}));
  EXPECT_EQ(single, (std::set<u32>{2, 3, 4}));
}

TEST(Portfolio, HeuristicsInTurnOrTheOneThatIsAskedFor) {
  std::vector<exec::Plan> none = plans_of(Portfolio({}), 1000),
                          all = plans_of(Portfolio({.model = ModelId::kRc11}), 1000),
                          one = plans_of(
                              Portfolio({.model = ModelId::kRc11, .heuristic = HeuristicId::kRandom}), 1000);
  std::set<std::pair<HeuristicId, StrategyId>> together;
  std::map<HeuristicId, int> turns;
  for (u64 i = 0; i < 1000; ++i) {
    EXPECT_EQ(none[i].head.model, ModelId::kSc);
    EXPECT_EQ(one[i].head.heuristic, HeuristicId::kRandom);
    EXPECT_EQ(all[i].head.model, ModelId::kRc11);
    EXPECT_EQ(all[i].head.seed, none[i].head.seed);
    if (all[i].head.strategy == StrategyId::kGuided) continue;
    ++turns[all[i].head.heuristic];
    together.insert({all[i].head.heuristic, all[i].head.strategy});
  }
  EXPECT_EQ(turns.size(), kCatalogSize<HeuristicId>);
  for (auto [heuristic, times] : turns) EXPECT_NEAR(times, 195, 10) << name_of(heuristic);
  EXPECT_EQ(together.size(), 25u);  // with pct, random, pos, places and turns
}

TEST(Portfolio, WithoutRacesNoRacefuzzer) {
  std::vector<exec::Plan> plans = plans_of(Portfolio({}), 200),
                          alone = plans_of(Portfolio({.strategy = "racefuzzer"}), 200);
  for (u64 i = 0; i < 200; ++i) {
    EXPECT_NE(plans[i].head.strategy, StrategyId::kRacefuzzer);
    EXPECT_EQ(alone[i].head.strategy, StrategyId::kRandom);
  }
}

TEST(Portfolio, WhereFreesRaceMemoryIsChecked) {
  SearchState state = learnt();
  u64 before = 0, after = 0;
  for (const exec::Plan& plan : plans_of(Portfolio({}), 1000, state)) before += plan.head.memory;
  EXPECT_EQ(before, 96u) << "only where races are looked for";
  state.pairs.push_back({9, trail::kFreeKey});
  for (const exec::Plan& plan : plans_of(Portfolio({}), 1000, state)) {
    after += plan.head.memory;
    if (plan.head.strategy == StrategyId::kGuided) EXPECT_TRUE(plan.head.memory);
    EXPECT_TRUE(!plan.head.memory || plan.head.detect != trail::Detect::kNothing);
  }
  EXPECT_GT(after, 400u);
  EXPECT_LT(after, 900u) << "some bugs need freed memory to be used again";
}

TEST(Portfolio, AnAccessThatIsNoPlaceToSwitch) {
  SearchState state = {.pairs = {{0, 7}}};
  EXPECT_EQ(state.sites(), std::vector<u32>{7});
  for (const exec::Plan& plan : plans_of(Portfolio({}), 200, state)) {
    EXPECT_NE(plan.head.strategy, StrategyId::kRacefuzzer) << "there is nothing to bring it together with";
    EXPECT_TRUE(plan.pairs.empty());
  }
}

TEST(Portfolio, OneStrategyOnRequest) {
  for (const exec::Plan& plan : plans_of(Portfolio({.strategy = "pct", .depth = 5}), 100)) {
    EXPECT_EQ(plan.head.strategy, StrategyId::kPct);
    EXPECT_EQ(plan.head.depth, 5u);
  }
  std::vector<exec::Plan> guided = plans_of(Portfolio({.strategy = "guided"}), 1000, learnt());
  for (u64 i = 16; i < 1000; ++i)
    EXPECT_EQ(guided[i].head.strategy == StrategyId::kGuided, !Portfolio::detects(i));
}

TEST(Portfolio, WhatIsSeenIsLearnt) {
  SearchState state;
  RunFeedback first, second;
  first.strategy = second.strategy = StrategyId::kGuided;
  first.plan = 0;
  first.observation = Observation{1, {7, 8}, {{1, 10, 1, 0, 4, 4}}};
  second.observation = Observation{1, {8, 9}, {}};
  Portfolio::learn({first, second}, state);
  EXPECT_EQ(state.seen, (std::set<u32>{7, 8, 9}));
  EXPECT_EQ(state.guide.next(9, 1), std::vector<u32>{1});
  EXPECT_EQ(state.guide.plan(1), (std::vector<trail::PlannedSwitch>{{1, 10, 1, 2}}));
  RunFeedback race;
  race.pairs = {{1, 2}};
  Portfolio::learn({race}, state);
  EXPECT_EQ(state.guide.next(9, 1), std::vector<u32>{0}) << "there are other points now";
}

TEST(Portfolio, Learns) {
  SearchState state{.pairs = {{5, 6}}, .length = 3};
  auto run = [](std::vector<trail::SitePair> pairs, u64 choices) {
    RunFeedback feedback;
    feedback.pairs = std::move(pairs);
    feedback.choices = choices;
    return feedback;
  };
  Portfolio::learn({run({{1, 2}}, 10), run({{5, 6}, {1, 2}}, 12), run({}, 0), run({}, 100000)}, state);
  ASSERT_EQ(state.pairs.size(), 2u);
  EXPECT_EQ(state.pairs[0].first, 1u);
  EXPECT_EQ(state.length, 12u);
  Portfolio::learn({}, state);
  EXPECT_EQ(state.length, 12u);
}

}  // namespace
}  // namespace duress::search
