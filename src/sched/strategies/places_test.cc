// SPDX-License-Identifier: Apache-2.0
//
// Strategies by places: what they find does not depend on how many threads there are, nor on how often a loop
// goes round.
#include "sched/strategies/testing/simulator.h"
#include "sched/strategy.h"

namespace duress::sched::testing {
namespace {

Step at(uptr place, Step step) {
  step.operation.place = place;
  return step;
}

/// `writers` strands do a = 1, b = 1; the last one fails if it sees a without b.
Program two_stages(u32 writers) {
  Program program(writers, {at(1, write(0, 1)), at(2, write(1, 1))});
  program.push_back({at(3, read(0, 0, [](World&, int a) { return a == 0 ? 1 : 0; })),
                     at(4, read(1, 0, [](World& w, int b) { return w.error = b == 0, 0; }))});
  return program;
}

/// Two strands add 1 to a variable if the other was the last to do so, `rounds` times each: all in turn is an
/// error.
Program alternation(int rounds) {
  Program program;
  for (int me = 0; me < 2; ++me) {
    std::vector<Step> strand;
    for (int i = me; i < 2 * rounds; i += 2)
      strand.push_back(at(1, read(0, 0, [=](World& w, int x) {
                            w.variables[0] += x == i;
                            w.error = w.variables[0] == 2 * rounds;
                            return 0;
                          })));
    program.push_back(strand);
  }
  return program;
}

// The order of four places decides: the first stage, then both reads, then the second stage, which has 2 in
// 24. Hoeffding with 4,000 runs: off by more than 0.04 with at most 2 exp(-12.8) = 6e-6.
TEST(Places, ThreadsDoNotMatter) {
  for (u32 writers : {1u, 10u, 100u}) {
    double rate = static_cast<double>(
                      errors(two_stages(writers), *strategy_of(StrategyId::kPlaces), 4000, {.depth = 1})) /
                  4000;
    EXPECT_GT(rate, 0.04) << writers;
  }
  // Priorities of strands need that none of the writers runs to its end before.
  EXPECT_LT(errors(two_stages(100), *strategy_of(StrategyId::kPct), 4000), 40u);
}

TEST(Places, APlaceCanFall) {
  // No fixed order of places: the same place is the first for one strand and the last for the other.
  Program program = {{at(1, write(0, 1)), at(1, write(0, 2))},
                     {at(2, read(0, 0, [](World& w, int x) { return w.error = x == 1, 0; }))}};
  EXPECT_EQ(errors(program, *strategy_of(StrategyId::kPlaces), 1000, {.depth = 1}), 0u);
  EXPECT_GT(errors(program, *strategy_of(StrategyId::kPlaces), 1000, {.depth = 3, .expected_choices = 3}),
            50u);
}

// The turn is given at the one place in (1/2 + 1/4 + 1/8) / 4 of the executions, and in 3/8 it goes round in
// the order that fails: 0.082.
TEST(Turns, RoundsDoNotMatter) {
  for (int rounds : {2, 10, 40}) {
    double rate =
        static_cast<double>(errors(alternation(rounds), *strategy_of(StrategyId::kTurns), 4000)) / 4000;
    EXPECT_NEAR(rate, 0.082, 0.03) << rounds;
  }
  EXPECT_EQ(errors(alternation(40), *strategy_of(StrategyId::kRandom), 4000), 0u);
}

// Each holds a lock and tries the other's, and steps back: a pattern can repeat that for ever.
TEST(Places, ThreadsThatStepBackMeetInTheEnd) {
  Program program(2);
  for (u32 me = 0; me < 2; ++me) {
    u32 other = 1 - me;
    program[me] = {at(1, write(me, 1)),
                   at(2, read(other, 0, [](World&, int taken) { return taken == 0 ? 1 : 0; })),
                   at(3, {{.kind = OpKind::kWrite, .size = 4, .object = address_of(me)},
                          [=](World& w) { return w.variables[me] = 0, -3; }}),
                   at(4, write(me, 0))};
  }
  for (StrategyId id : {StrategyId::kPlaces, StrategyId::kTurns, StrategyId::kPct}) {
    for (u64 seed = 1; seed <= 200; ++seed)
      ASSERT_EQ(run(program, *strategy_of(id), request_of(seed)).outcome, trail::Outcome::kEnded)
          << name_of(id) << " " << seed;
  }
}

TEST(Places, MorePlacesThanTheTableHolds) {
  Program program(2);
  for (uptr i = 0; i < 5000; ++i) {
    program[0].push_back(at(i + 1, plain()));
    program[1].push_back(at(i + 10'001, plain()));
  }
  for (StrategyId id : {StrategyId::kPlaces, StrategyId::kTurns}) {
    Result result = run(program, *strategy_of(id), request_of(1));
    EXPECT_EQ(result.outcome, trail::Outcome::kEnded);
    EXPECT_TRUE(result.same_as(run(program, *strategy_of(id), request_of(1))));
  }
}

}  // namespace
}  // namespace duress::sched::testing
