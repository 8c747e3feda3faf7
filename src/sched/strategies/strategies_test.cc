// SPDX-License-Identifier: Apache-2.0
//
// Seeds are fixed, so no test here is flaky. What the comments compute is how probable it was that a correct
// strategy fails the test for the seeds that happened to be chosen.
#include <map>
#include <set>

#include "sched/strategies/testing/simulator.h"
#include "sched/strategy.h"

namespace duress::sched::testing {
namespace {

RequestFile trail_of(const std::vector<trail::Deviation>& trail) {
  return RequestFile({}, {}, trail);
}

/// Locks, conflicts, values and a possible deadlock.
Program mixed_program() {
  return {
      {write(0, 1, 11), lock(0), copy(1, 2), lock(1), unlock(1), unlock(0), value(ValueKind::kCoin, 3, 5)},
      {copy(0, 3, 12), lock(1), write(1, 7), lock(0), unlock(0), unlock(1),
       value(ValueKind::kSpurious, 2, 6)},
      {plain(), value(ValueKind::kWakeOne, 4, 7), write(0, 2, 11), write(2, 5), plain()},
  };
}
const std::vector<trail::SitePair> kMixedPairs = {{11, 12}, {11, 11}};

constexpr StrategyId kAll[] = {
#define DURESS_STRATEGY(identifier, name, description) StrategyId::k##identifier,
    DURESS_STRATEGIES(DURESS_STRATEGY)
#undef DURESS_STRATEGY
};

TEST(Strategies, EveryNumberHasItsOwn) {
  std::set<Strategy*> all;
  for (StrategyId id : kAll) {
    ASSERT_NE(strategy_of(id), nullptr);
    all.insert(strategy_of(id));
  }
  EXPECT_EQ(all.size(), std::size(kAll));
  EXPECT_EQ(strategy_of(StrategyId{99}), nullptr);
}

TEST(Strategies, SameSeedSameExecution) {
  Program program = mixed_program();
  for (StrategyId id : kAll) {
    Strategy& strategy = *strategy_of(id);
    std::vector<Result> first;
    for (u64 seed = 1; seed <= 50; ++seed) {
      first.push_back(run(program, strategy, request_of(seed, kMixedPairs)));
    }
    bool differ = false;
    for (u64 seed = 50; seed >= 1; --seed) {  // in another order: nothing is left over from the last one
      Result again = run(program, strategy, request_of(seed, kMixedPairs));
      EXPECT_TRUE(again.same_as(first[seed - 1])) << "strategy " << raw(id) << " seed " << seed;
      EXPECT_EQ(again.record.races_created, first[seed - 1].record.races_created);
      differ |= again.order != first[0].order;
    }
    bool follows = id == StrategyId::kReplay || id == StrategyId::kExhaustive || id == StrategyId::kGuided;
    EXPECT_EQ(differ, !follows) << "strategy " << raw(id);
  }
}

TEST(Strategies, RandomValues) {
  Prng prng(1);
  std::map<u32, int> wake;
  int spurious = 0, early = 0;
  for (int i = 0; i < 16000; ++i) {
    ++wake[random_value(prng, ValueKind::kWakeOne, 4)];
    spurious += static_cast<int>(random_value(prng, ValueKind::kSpurious, 2));
    early += static_cast<int>(random_value(prng, ValueKind::kEarlyTimer, 2));
  }
  // Hoeffding: a rate is off by more than 0.025 with at most 2 exp(-2 * 16000 * 0.025^2) = 4e-9.
  ASSERT_EQ(wake.size(), 4u);
  for (auto [pick, count] : wake) EXPECT_NEAR(count, 4000, 400) << pick;
  EXPECT_NEAR(spurious, 1000, 400);
  EXPECT_NEAR(early, 4000, 400);
  EXPECT_EQ(random_value(prng, ValueKind::kSpurious, 1), 0u) << "no choice but 0";
}

TEST(Random, ReachesEveryInterleaving) {
  Program program(2, std::vector<Step>(3, plain()));
  std::set<std::vector<u32>> seen;
  // The least probable of the 20 interleavings has 2^-5: one is missed with at most 20 * (31/32)^1000 =
  // 4e-13.
  for (u64 seed = 1; seed <= 1000; ++seed)
    seen.insert(run(program, *strategy_of(StrategyId::kRandom), request_of(seed)).order);
  EXPECT_EQ(seen.size(), 20u);
}

TEST(Random, FindsADeadlock) {
  int deadlocks = 0;
  for (u64 seed = 1; seed <= 200; ++seed) {
    Result result = run(mixed_program(), *strategy_of(StrategyId::kRandom), request_of(seed));
    deadlocks += result.outcome == trail::Outcome::kDeadlock;
  }
  EXPECT_GT(deadlocks, 0);
  EXPECT_LT(deadlocks, 200);
}

// In both, Hoeffding with 20,000 runs: a rate is off by more than 0.02 with at most 2 exp(-16) = 2.3e-7.
TEST(Pos, IndependentStepsDoNotWearAnOrderDown) {
  Program program = {std::vector<Step>(8, plain()), {copy(0, 1)}};
  program[0].push_back(write(0, 1));
  program[1][0] = read(0, 0, [](World& w, int x) { return w.error = x == 1, 0; });
  // The read must be the lowest of ten operations. A random walk comes there with 2^-9.
  double rate = static_cast<double>(errors(program, *strategy_of(StrategyId::kPos), 20'000)) / 20'000;
  EXPECT_NEAR(rate, 0.1, 0.02);
}

TEST(Pos, AConflictDrawsANewPriority) {
  Program program = {std::vector<Step>(3, write(0, 1)), {}};
  program[1].push_back(read(0, 0, [](World& w, int) { return w.error = w.ended[0], 0; }));
  // The read has to lose three independent draws; with one priority for all three it would be 1/4.
  double rate = static_cast<double>(errors(program, *strategy_of(StrategyId::kPos), 20'000)) / 20'000;
  EXPECT_NEAR(rate, 0.125, 0.02);
}

/// A swap that two changes by another strand let succeed, in real memory: whether its value is the expected
/// one is looked up there.
TEST(Turns, SwapsWaitUntilTheirValueIsThereAgain) {
  static int location;
  const uptr at = reinterpret_cast<uptr>(&location);
  auto store = [&](int value) {
    return Step{{.kind = OpKind::kAtomicWrite, .size = 4, .object = at},
                [=](World&) { return location = value, 0; }};
  };
  Step swap = {{.kind = OpKind::kAtomicRmw, .size = 4, .object = at, .compares = 1, .detail = 1},
               [](World&) { return 0; }};
  std::vector<Step> changes(20, plain());
  changes.insert(changes.end(), {store(2), store(3), store(1), store(4)});
  changes.insert(changes.end(), 20, plain());
  int restored = 0, between = 0;
  for (u64 seed = 1; seed <= 1000; ++seed) {
    location = 1;
    std::vector<u32> order =
        run({{swap, plain(), plain()}, changes}, *strategy_of(StrategyId::kTurns), request_of(seed)).order;
    auto before = std::find(order.begin(), order.end(), 0u) - order.begin();
    restored += before == 23;
    between += before == 22 || before == 24;
  }
  // One in twelve executions holds it; then it comes at once with 1/2, while the other strand goes on.
  EXPECT_GT(restored, 25);
  EXPECT_LT(between, restored / 2);
}

TEST(RoundRobin, TakesTurnsOfOneQuantum) {
  Program program(3, std::vector<Step>(24, plain()));
  std::set<u64> quanta;
  for (u64 seed = 1; seed <= 100; ++seed) {
    std::vector<u32> order = run(program, *strategy_of(StrategyId::kRoundRobin), request_of(seed)).order;
    u64 quantum = 0;
    while (order[quantum] == 0) ++quantum;
    quanta.insert(quantum);
    if (24 % quantum != 0) continue;  // else ends fall into turns
    for (u64 i = 0; i < order.size(); ++i)
      EXPECT_EQ(order[i], i / quantum % 3) << "seed " << seed << " step " << i;
  }
  EXPECT_EQ(quanta, (std::set<u64>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(RoundRobin, PassesOverBlockedStrands) {
  Program program = {{lock(0), plain(), plain(), unlock(0)}, {lock(0), unlock(0)}, {plain(), plain()}};
  for (u64 seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(run(program, *strategy_of(StrategyId::kRoundRobin), request_of(seed)).outcome,
              trail::Outcome::kEnded);
  }
}

TEST(Replay, ReproducesEveryTrail) {
  Program program = mixed_program();
  u64 deviations = 0;
  for (StrategyId id : kAll) {
    for (u64 seed = 1; seed <= 300; ++seed) {
      Result recorded = run(program, *strategy_of(id), request_of(seed, kMixedPairs));
      Result replayed = run(program, *strategy_of(StrategyId::kReplay), trail_of(recorded.trail));
      EXPECT_TRUE(replayed.same_as(recorded)) << "strategy " << raw(id) << " seed " << seed;
      EXPECT_EQ(replayed.record.diverged, 0u);
      deviations += recorded.trail.size();
    }
  }
  EXPECT_GT(deviations, 1000u);
}

TEST(Replay, EmptyTrailIsTheDefault) {
  Program program(2, std::vector<Step>(3, plain()));
  EXPECT_EQ(run(program, *strategy_of(StrategyId::kReplay), trail_of({})).order,
            (std::vector<u32>{0, 0, 0, 1, 1, 1}));
}

TEST(Replay, ReportsTheFirstDivergenceAndGoesOn) {
  // Choices: 0 a strand, 1 the value, then strands. Strand 2 waits for the lock that strand 0 holds for ever.
  Program program = {{lock(0), value(ValueKind::kCoin, 2, 0), plain()}, {plain(), plain()}, {lock(0)}};
  using trail::ChoiceKind;
  using trail::Deviation;
  auto replay = [&](std::vector<Deviation> trail) {
    return run(program, *strategy_of(StrategyId::kReplay), trail_of(trail));
  };
  auto thread = [](u32 choice, u32 pick) { return Deviation::of(choice, ChoiceKind::kThread, pick); };
  auto chosen = [](u32 choice, u32 pick) { return Deviation::of(choice, ChoiceKind::kValue, pick); };

  Result fine = replay({thread(1, 1), chosen(3, 1)});
  EXPECT_EQ(fine.record.diverged, 0u);
  EXPECT_EQ(fine.order, (std::vector<u32>{0, 1, 1, 0, 0}));

  EXPECT_EQ(replay({}).values, std::vector<u32>{0});
  EXPECT_EQ(replay({thread(1, 2)}).record.diverged, 2u) << "blocked";
  EXPECT_EQ(replay({thread(1, 9)}).record.diverged, 2u) << "does not exist";
  EXPECT_EQ(replay({chosen(0, 1)}).record.diverged, 1u) << "a value where a strand is chosen";
  EXPECT_EQ(replay({thread(2, 1)}).record.diverged, 3u) << "a strand where a value is chosen";
  EXPECT_EQ(replay({chosen(2, 2)}).record.diverged, 3u) << "no such value";
  EXPECT_EQ(replay({chosen(77, 1)}).record.diverged, 78u) << "the execution ended before";
  EXPECT_EQ(replay({thread(1, 1), thread(1, 0)}).record.diverged, 2u) << "two for one choice";

  Result two = replay({thread(1, 2), chosen(2, 1), chosen(50, 1)});
  EXPECT_EQ(two.record.diverged, 2u) << "the first of two";
  EXPECT_EQ(two.values, std::vector<u32>{1}) << "the rest of the trail is still followed";
}

}  // namespace
}  // namespace duress::sched::testing
