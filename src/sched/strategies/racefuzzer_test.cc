// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer creates the races of its paper's figures, and no false one. Seeds are fixed; the comments
// compute how probable it was that a correct strategy fails for them.
#include <set>

#include "sched/strategies/site_pair_set.h"
#include "sched/strategies/testing/simulator.h"
#include "sched/strategy.h"

namespace duress::sched::testing {
namespace {

// Figure 1 of the RaceFuzzer paper; sites are its statement numbers. variables: 0 x, 1 y, 2 z, 3 ERROR2.
Program figure1() {
  auto error1 = [](World& w, int z) { return w.error |= z == 1, 0; };
  auto error2 = [](World& w, int x) { return w.variables[3] = x != 1, 0; };
  return {{write(0, 1, 1), lock(0), write(1, 1, 3), unlock(0), read(2, 5, error1)},
          {write(2, 1, 7), lock(0), read(1, 9, [](World&, int y) { return y == 1 ? 0 : 1; }),
           read(0, 10, error2), unlock(0)}};
}

TEST(RaceFuzzer, Figure1CreatesTheRealRace) {
  u64 error1 = 0;
  for (u64 seed = 1; seed <= 1000; ++seed) {
    Result result = run(figure1(), *strategy_of(StrategyId::kRacefuzzer), request_of(seed, {{5, 7}}));
    EXPECT_EQ(result.outcome, trail::Outcome::kEnded);
    EXPECT_EQ(result.record.races_created, 1u) << seed;
    EXPECT_EQ(result.record.created[0].first, 5u) << "as the request has it";
    EXPECT_EQ(result.record.created[0].second, 7u);
    error1 += result.error;
  }
  // Hoeffding: off by more than 0.09 with at most 2 exp(-2 * 1000 * 0.09^2) = 1.8e-7.
  EXPECT_NEAR(static_cast<double>(error1) / 1000, 0.5, 0.09);
}

TEST(RaceFuzzer, Figure1NeverCreatesTheFalseRace) {
  for (u64 seed = 1; seed <= 1000; ++seed) {
    Result result = run(figure1(), *strategy_of(StrategyId::kRacefuzzer), request_of(seed, {{1, 10}}));
    EXPECT_EQ(result.outcome, trail::Outcome::kEnded);
    EXPECT_EQ(result.record.races_created, 0u) << seed;
    EXPECT_EQ(result.variables[3], 0) << "ERROR2 cannot be reached";
  }
}

TEST(RaceFuzzer, Figure1WithBothPairsAtOnce) {
  u64 created = 0;
  for (u64 seed = 1; seed <= 1000; ++seed) {
    Result result =
        run(figure1(), *strategy_of(StrategyId::kRacefuzzer), request_of(seed, {{1, 10}, {7, 5}}));
    EXPECT_EQ(result.outcome, trail::Outcome::kEnded);
    EXPECT_LE(result.record.races_created, 1u);
    if (result.record.races_created == 0) continue;
    ++created;
    EXPECT_EQ(result.record.created[0].first, 7u);
  }
  // With strand 0 at 1 and strand 1 at 7 all are postponed: which one is let go decides.
  EXPECT_GT(created, 300u);
}

// Figure 2: the race is created in every run, and ERROR reached in half of them, however many statements come
// before it. Hoeffding: off by more than 0.05 with at most 2 exp(-2 * 2000 * 0.05^2) = 9e-5.
TEST(RaceFuzzer, Figure2) {
  for (u64 statements : {10, 1000}) {
    Program program(2);
    program[0].push_back(lock(0));
    for (u64 i = 0; i < statements; ++i) program[0].push_back(plain());
    program[0].push_back(unlock(0));
    program[0].push_back(read(0, 8, [](World& w, int x) { return w.error = x == 0, 0; }));
    program[1] = {write(0, 1, 10), lock(0), plain(), unlock(0)};
    u64 error = 0;
    for (u64 seed = 1; seed <= 2000; ++seed) {
      Result result = run(program, *strategy_of(StrategyId::kRacefuzzer), request_of(seed, {{8, 10}}));
      EXPECT_EQ(result.outcome, trail::Outcome::kEnded);
      EXPECT_EQ(result.record.races_created, 1u) << seed;
      error += result.error;
    }
    EXPECT_NEAR(static_cast<double>(error) / 2000, 0.5, 0.05) << statements << " statements";
  }
}

TEST(RaceFuzzer, OneStatementCanRaceWithItself) {
  Program program = {{plain(), write(0, 1, 4)}, {plain(), plain(), write(0, 2, 4)}};
  u64 last = 0;
  for (u64 seed = 1; seed <= 1000; ++seed) {
    Result result = run(program, *strategy_of(StrategyId::kRacefuzzer), request_of(seed, {{4, 4}}));
    EXPECT_EQ(result.record.races_created, 1u);
    last += result.variables[0] == 2;
  }
  EXPECT_NEAR(static_cast<double>(last) / 1000, 0.5, 0.09);  // 1.8e-7, as above
}

TEST(RaceFuzzer, NeedsTheSameMemoryAWriteAndThePair) {
  const Program programs[] = {
      {{write(0, 1, 4)}, {write(1, 1, 5)}},  // other memory
      {{copy(0, 1, 4)}, {copy(0, 2, 5)}},    // two reads
      {{write(0, 1, 4)}, {write(0, 2, 6)}},  // sites of two pairs
  };
  for (const Program& program : programs) {
    for (u64 seed = 1; seed <= 100; ++seed) {
      Result result = run(program, *strategy_of(StrategyId::kRacefuzzer), request_of(seed, {{4, 5}, {6, 7}}));
      EXPECT_EQ(result.outcome, trail::Outcome::kEnded);
      EXPECT_EQ(result.record.races_created, 0u);
    }
  }
}

// Two readers are postponed, a writer arrives: either the writer goes first, or both readers do.
TEST(RaceFuzzer, RunsAllPostponedOnesOfARace) {
  int writer_first = 0, readers_first = 0;
  for (u64 seed = 1; seed <= 200; ++seed) {
    StrandView a{.number = 1, .next = read(0, 1, {}).operation};
    StrandView b{.number = 2, .next = read(0, 1, {}).operation};
    StrandView writer{.number = 3, .next = write(0, 1, 2).operation};
    StrandView other{.number = 4, .next = plain().operation};
    StrandView* all[] = {&other, &a, &b, &writer};
    RequestFile request = request_of(seed, {{1, 2}});
    Strategy& strategy = *strategy_of(StrategyId::kRacefuzzer);
    strategy.start(request.get());
    u64 choice = 0;
    auto choose = [&](u32 count) {
      StrandView* chosen = strategy.choose_thread({choice, choice, all, count, nullptr});
      ++choice;
      ++chosen->operations;
      return chosen;
    };
    for (int i = 0; i < 100; ++i) ASSERT_EQ(choose(3), &other) << "the readers wait";
    StrandView* first = &other;
    while (first == &other) first = choose(4);
    trail::Record record;
    strategy.finish(record);
    EXPECT_EQ(record.races_created, 2u) << "with each of the readers";
    if (first == &writer) {
      ++writer_first;
      continue;
    }
    ++readers_first;
    first->next = plain().operation;
    StrandView* second = choose(4);
    EXPECT_EQ(second, first == &a ? &b : &a);
    second->next = plain().operation;
    for (int i = 0; i < 100; ++i) ASSERT_NE(choose(4), &writer) << "the writer is postponed now";
  }
  EXPECT_GT(writer_first, 50);
  EXPECT_GT(readers_first, 50);
}

// Strand 1 does something in a loop until strand 0 writes; strand 0 is postponed before the write.
TEST(RaceFuzzer, MonitorEndsALivelock) {
  Program program = {{write(0, 1, 4)}, {plain(), read(0, 0, [](World&, int x) { return x == 1 ? 0 : -2; })}};
  for (u64 seed = 1; seed <= 5; ++seed) {
    Result result = run(program, *strategy_of(StrategyId::kRacefuzzer), request_of(seed, {{4, 5}}));
    EXPECT_EQ(result.outcome, trail::Outcome::kEnded);
    EXPECT_LT(result.order.size(), 200'100u);
  }
}

TEST(RaceFuzzer, RecordsTheFirstEightDistinctPairs) {
  Program program(2);
  std::vector<trail::SitePair> pairs;
  for (u32 i = 0; i < 20; ++i) {
    program[0].push_back(write(0, 1, 100 + i / 2));
    program[1].push_back(write(0, 2, 200 + i / 2));
  }
  for (u32 i = 0; i < 10; ++i) {
    for (u32 j = 0; j < 10; ++j) pairs.push_back({200 + i, 100 + j});
  }
  Result result = run(program, *strategy_of(StrategyId::kRacefuzzer), request_of(1, pairs));
  EXPECT_GT(result.record.races_created, 8u);
  std::set<std::pair<u32, u32>> distinct;
  for (const trail::SitePair& pair : result.record.created) distinct.insert({pair.first, pair.second});
  EXPECT_EQ(distinct.size(), 8u);
  for (auto [first, second] : distinct) EXPECT_TRUE(first >= 200 && second >= 100 && second < 110);
}

TEST(SitePairSet, HoldsItsLimitAndNoMore) {
  static SitePairSet set;
  std::vector<trail::SitePair> pairs;
  for (u32 i = 1; i <= SitePairSet::kMostPairs + 1; ++i) pairs.push_back({2 * i, 2 * i + 1});
  set.fill(pairs.data(), static_cast<u32>(pairs.size()));
  for (u32 i = 1; i <= SitePairSet::kMostPairs; ++i) {
    EXPECT_TRUE(set.has_pair(2 * i + 1, 2 * i)) << "in any order";
    EXPECT_TRUE(set.has_site(2 * i) && set.has_site(2 * i + 1));
    EXPECT_FALSE(set.has_pair(2 * i, 2 * i + 2) || set.has_pair(2 * i, 2 * i));
  }
  EXPECT_FALSE(set.has_site(pairs.back().first));
  EXPECT_FALSE(set.has_site(0));
  set.fill(pairs.data(), 0);
  EXPECT_FALSE(set.has_site(2) || set.has_pair(2, 3));
}

}  // namespace
}  // namespace duress::sched::testing
