// SPDX-License-Identifier: Apache-2.0
//
// Planned switches are made where they are planned, and what is said of further ones leads there.
#include "sched/place_key.h"
#include "sched/strategies/testing/simulator.h"

namespace duress::sched::testing {
namespace {

using trail::PlannedSwitch;
using trail::SwitchPoint;

Step at(uptr place, Step step) {
  step.operation.place = place;
  return step;
}

u32 key_of(const Step& step) {
  return place_key(step.operation);
}

/// Two strands that add 1 to a variable `rounds` times, not atomically.
Program additions(int rounds) {
  Program program(2);
  for (u32 me = 0; me < 2; ++me) {
    for (int i = 0; i < rounds; ++i) {
      program[me].push_back(at(1, copy(0, 1 + me)));
      program[me].push_back(at(2, {{.kind = OpKind::kWrite, .size = 4, .object = address_of(0)},
                                   [=](World& w) { return w.variables[0] = w.variables[1 + me] + 1, 0; }}));
    }
  }
  return program;
}

Result follow(const Program& program, const std::vector<PlannedSwitch>& planned, u64 seed = 1) {
  return run(program, *strategy_of(StrategyId::kGuided), RequestFile({.seed = seed}, {}, {}, planned));
}

const SwitchPoint* find(const Result& result, u32 strand, u32 place) {
  for (const SwitchPoint& point : result.switch_points) {
    if (point.strand == strand && point.place == place) return &point;
  }
  return nullptr;
}

TEST(Guided, WithoutAPlanNobodyIsPreempted) {
  Result result = follow(additions(2), {});
  EXPECT_EQ(result.order, (std::vector<u32>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(result.record.switch_point_count, 3u);  // reads, writes, and the first choice
}

TEST(Guided, TheSmallestSumHasFourSwitches) {
  for (int rounds : {2, 3, 10}) {
    Program program = additions(rounds);
    u32 reads = key_of(program[0][0]), writes = key_of(program[0][1]);
    // One begins to add and waits until the other is about to add for the last time.
    auto last = static_cast<u32>(rounds - 1);  // its first read is what it was switched to
    Result result =
        follow(program, {{0, writes, 1, 1}, {1, reads, last, 0}, {0, reads, 1, 1}, {1, writes, 1, 0}});
    EXPECT_EQ(result.variables[0], 2) << rounds;
    EXPECT_EQ(result.outcome, trail::Outcome::kEnded);
  }
}

TEST(Guided, SaysWhereItCouldGoOn) {
  Program program = additions(3);
  u32 reads = key_of(program[0][0]), writes = key_of(program[0][1]);
  Result result = follow(program, {{0, writes, 2, 1}});
  EXPECT_EQ(result.order, (std::vector<u32>{0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0}));
  ASSERT_NE(find(result, 1, reads), nullptr);
  EXPECT_EQ(find(result, 1, reads)->visits, 2u);  // the first is what it was switched to
  EXPECT_EQ(find(result, 1, writes)->visits, 3u);
  EXPECT_EQ(find(result, 1, writes)->last_targets, 1u);
  EXPECT_EQ(find(result, 0, writes), nullptr) << "alone it is not asked";
  EXPECT_EQ(find(follow(program, {{0, writes, 2, 1}, {1, writes, 3, 0}}), 1, writes), nullptr);
}

TEST(Guided, AStrandThatCannotGoOnIsAPlaceToo) {
  Program program = {{plain()}, {plain()}, {plain()}};
  // Nobody runs before the first choice.
  Result result = follow(program, {{0, PlannedSwitch::kCannotGoOn, 2, 2}});
  EXPECT_EQ(result.order, (std::vector<u32>{0, 2, 1}));
}

TEST(Guided, WhatCannotBeFollowedIsLeftOut) {
  Program program = additions(2);
  EXPECT_EQ(follow(program, {{0, 12345, 1, 1}}).order, follow(program, {}).order);
  EXPECT_EQ(follow(program, {{0, key_of(program[0][0]), 1, 7}}).order, follow(program, {}).order);
}

}  // namespace
}  // namespace duress::sched::testing
