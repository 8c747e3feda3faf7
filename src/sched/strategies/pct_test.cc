// SPDX-License-Identifier: Apache-2.0
//
// PCT finds a bug of depth d with the probability that its paper proves. Seeds are fixed; the comments
// compute how probable it was that a correct strategy fails for them.
#include <cmath>

#include "sched/strategies/testing/simulator.h"
#include "sched/strategy.h"

namespace duress::sched::testing {
namespace {

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

}  // namespace
}  // namespace duress::sched::testing
