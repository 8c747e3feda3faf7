// SPDX-License-Identifier: Apache-2.0
#include "sched/timers.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace duress::sched {
namespace {

class TimersTest : public ::testing::Test {
 protected:
  TimersTest() {
    for (u32 i = 0; i + 1 < strands.size(); ++i) strands[i].next_strand = &strands[i + 1];
    for (u32 i = 0; i < strands.size(); ++i) strands[i].number = i;
  }
  std::vector<u32> fire_due() {
    std::vector<u32> fired;
    timers.fire_due(strands.data(), nullptr, [&](Strand* s) {
      fired.push_back(s->number);
      timers.disarm(s);
    });
    return fired;
  }

  Timers timers;
  std::array<Strand, 3> strands;
};

TEST_F(TimersTest, DeadlinesFireInTheOrderOfStrands) {
  timers.arm(&strands[2], 100);
  timers.arm(&strands[0], 200);
  timers.arm(&strands[1], 300);
  EXPECT_EQ(Timers::earliest(strands.data(), nullptr, false), &strands[2]);
  timers.advance(99);
  EXPECT_FALSE(timers.any_due());
  timers.advance(101);
  EXPECT_TRUE(timers.any_due());
  EXPECT_EQ(fire_due(), (std::vector<u32>{0, 2}));
  EXPECT_FALSE(timers.any_due());
  timers.advance_to(300);
  EXPECT_EQ(fire_due(), (std::vector<u32>{1}));
  EXPECT_FALSE(timers.any());
  EXPECT_EQ(Timers::earliest(strands.data(), nullptr, false), nullptr);
}

TEST_F(TimersTest, TimeDoesNotGoBack) {
  timers.advance_to(500);
  timers.advance_to(100);
  timers.advance_to(kNever);
  EXPECT_EQ(timers.now(), 500u);
}

TEST_F(TimersTest, DisarmingTwiceCountsOnce) {
  timers.arm(&strands[0], 100);
  timers.arm(&strands[1], 100);
  timers.disarm(&strands[0]);
  timers.disarm(&strands[0]);
  EXPECT_TRUE(timers.any());
}

TEST_F(TimersTest, ALoopThatWaitsForATimeEndsSoon) {
  int reads = 0;
  while (timers.read_clock(/*changes=*/7) < 60'000'000'000) ++reads;
  EXPECT_LT(reads, 120);
  u64 before = timers.now();
  EXPECT_EQ(timers.read_clock(/*changes=*/8) - before, 1000u) << "something has changed";
}

}  // namespace
}  // namespace duress::sched
