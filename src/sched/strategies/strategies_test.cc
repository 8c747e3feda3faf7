// SPDX-License-Identifier: Apache-2.0
//
// Seeds are fixed, so no test here is flaky. What the comments compute is how probable it was that a correct
// strategy fails the test for the seeds that happened to be chosen.
#include <cmath>
#include <map>
#include <set>

#include "sched/strategies/site_pair_set.h"
#include "sched/strategies/testing/simulator.h"
#include "sched/strategy.h"

namespace duress::sched::testing {
namespace {

RequestFile request_of(u64 seed, const std::vector<trail::SitePair>& pairs = {}) {
  return RequestFile({.seed = seed}, pairs);
}

RequestFile trail_of(const std::vector<trail::Deviation>& trail) {
  return RequestFile({}, {}, trail);
}

/// In how many of the executions with seeds 1 to `runs` the program sets World::error.
u64 errors(const Program& program, Strategy& strategy, u64 runs, trail::Request head = {}) {
  u64 count = 0;
  for (head.seed = 1; head.seed <= runs; ++head.seed) {
    count += run(program, strategy, RequestFile(head)).error;
  }
  return count;
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
    EXPECT_EQ(differ, id != StrategyId::kReplay && id != StrategyId::kExhaustive) << "strategy " << raw(id);
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

// The bound p >= 1 / (n k^(d-1)) of PCT, on programs that have no slack in it: the bug is found with exactly
// that probability, so that an error of a factor of two fails. If p is at least the bound, the number of bugs
// in N runs is at least binomial with mean m = N / (n k^(d-1)), and by Chernoff is below (1 - e) m with
// at most exp(-e^2 m / 2); above (1 + 1.25 e) m, it is less. k is the number of steps, an upper bound of the
// number of choices.
struct PctCase {
  u64 n, k;
  u32 d;
  u64 runs;
  double slack;  // e
};

void expect_pct_bound(const Program& program, const PctCase& c) {
  double mean = static_cast<double>(c.runs) / static_cast<double>(c.n);
  for (u32 i = 1; i < c.d; ++i) mean /= static_cast<double>(c.k);
  EXPECT_LT(std::exp(-c.slack * c.slack * mean / 2), 1e-6) << "the test itself is too weak";
  u64 found =
      errors(program, *strategy_of(StrategyId::kPct), c.runs, {.depth = c.d, .expected_choices = c.k});
  EXPECT_GE(static_cast<double>(found), (1 - c.slack) * mean) << "n " << c.n << " k " << c.k << " d " << c.d;
  EXPECT_LE(static_cast<double>(found), (1 + 1.25 * c.slack) * mean)
      << "the program is not as tight as it should be";
}

/// A plain step that is a bug if the condition holds when it runs.
Step bug_if(std::function<bool(World&)> condition) {
  return plain([=](World& w) {
    w.error |= condition(w);
    return 0;
  });
}

// n = 4, d = 1, 20,000 runs: m = 5000, e = 0.075: exp(-14.06) = 7.9e-7. The bug: one strand begins when all
// others have ended, which takes that it has the lowest priority.
TEST(Pct, BoundOfDepth1) {
  for (u32 victim = 0; victim < 4; ++victim) {
    Program program(4, std::vector<Step>(3, plain()));
    program[victim][0] = bug_if([=](World& w) {
      for (u32 i = 0; i < 4; ++i) {
        if (i != victim && !w.ended[i]) return false;
      }
      return true;
    });
    expect_pct_bound(program, {.n = 4, .k = 12, .d = 1, .runs = 20'000, .slack = 0.075});
  }
}

// As above, with strands that come into being while others run: their place in the order is as random.
TEST(Pct, BoundOfDepth1WithStrandsCreatedLater) {
  for (u32 victim = 0; victim < 4; ++victim) {
    Program program(4, std::vector<Step>(3, plain()));
    program[0] = {create(1), create(2), create(3), plain()};
    program[victim][victim == 0 ? 3 : 0] = bug_if([=](World& w) {
      for (u32 i = 0; i < 4; ++i) {
        if (i != victim && !w.ended[i]) return false;
      }
      return true;
    });
    expect_pct_bound(program, {.n = 4, .k = 13, .d = 1, .runs = 20'000, .slack = 0.075});
  }
}

// n = 3, k = 12, d = 2, 20,000 runs: m = 555, e = 0.23: exp(-14.7) = 4.2e-7. The bug: strand 1 runs as a
// whole after strand 2, and between the second and the third step of strand 0.
TEST(Pct, BoundOfDepth2) {
  Program program = {std::vector<Step>(5, plain()), std::vector<Step>(3, plain()),
                     std::vector<Step>(4, plain())};
  program[1][0] = plain([](World& w) {
    w.variables[0] = w.position[0] == 2 && w.ended[2];
    return 0;
  });
  program[0][2] = bug_if([](World& w) { return w.variables[0] == 1 && w.ended[1]; });
  expect_pct_bound(program, {.n = 3, .k = 12, .d = 2, .runs = 20'000, .slack = 0.23});
  EXPECT_EQ(errors(program, *strategy_of(StrategyId::kPct), 2000, {.depth = 1, .expected_choices = 12}), 0u)
      << "depth 1 does not do";
}

// n = 3, k = 10, d = 3, 150,000 runs: m = 500, e = 0.24: exp(-14.4) = 5.6e-7. The bug: strand 0 stops before
// its third step, then strand 1 creates strand 2, that stops before its third step too, strand 1 ends, then
// `early` runs to its end, then `late`. Strand 0 is always lowered first; that must not settle which of the
// two goes on first.
TEST(Pct, BoundOfDepth3) {
  for (u32 early : {0u, 2u}) {
    u32 late = 2 - early;
    Program program = {std::vector<Step>(4, plain()), {create(2), plain()}, std::vector<Step>(4, plain())};
    program[1][1] = plain([](World& w) {
      w.variables[0] = w.position[0] == 2 && w.position[2] == 2;
      return 0;
    });
    program[early][2] = plain([](World& w) {
      w.variables[1] = w.variables[0] == 1 && w.ended[1];
      return 0;
    });
    program[late][2] = bug_if([=](World& w) { return w.variables[1] == 1 && w.ended[early]; });
    expect_pct_bound(program, {.n = 3, .k = 10, .d = 3, .runs = 150'000, .slack = 0.24});
  }
}

// A choice of a value takes a number too. A change point that falls on it must not be lost.
TEST(Pct, ChangePointOnAValueActsAtTheNextChoice) {
  Program program = {{value(ValueKind::kCoin, 2, 0), plain()}, {plain()}};
  // Choices: 0 a strand, 1 the value, 2 a strand (if strand 0 came first). The point is one of the three.
  program[1][0] = bug_if([](World& w) { return w.position[0] == 1; });
  // Strand 0 is first with 1/2, and lowered before its second step with 2/3. Hoeffding with 20,000 runs: off
  // by more than 0.02 with at most 2 exp(-16) = 2.3e-7.
  double rate = static_cast<double>(errors(program, *strategy_of(StrategyId::kPct), 20'000,
                                           {.depth = 2, .expected_choices = 3})) /
                20'000;
  EXPECT_NEAR(rate, 1.0 / 3, 0.02);
}

TEST(Pct, AnyDepthAndAnyLength) {
  for (u32 depth : {0u, 1u, 64u, 1000u}) {
    for (u64 length : {u64{0}, u64{1}, ~u64{0}}) {
      Result result = run(Program(5, std::vector<Step>(50, plain())), *strategy_of(StrategyId::kPct),
                          RequestFile({.seed = 3, .depth = depth, .expected_choices = length}));
      EXPECT_EQ(result.outcome, trail::Outcome::kEnded);
    }
  }
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
