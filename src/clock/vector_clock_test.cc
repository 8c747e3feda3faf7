// SPDX-License-Identifier: Apache-2.0
#include "clock/vector_clock.h"

#include <gtest/gtest.h>

namespace duress {
namespace {

class ClockTest : public ::testing::Test {
 protected:
  ~ClockTest() override { arena_.release_all(); }
  Arena arena_;
};

TEST_F(ClockTest, JoinTakesTheMaximumAndSaysIfItChanged) {
  VectorClock a(arena_), b(arena_);
  a.set(Slot{0}, 3);
  b.set(Slot{0}, 2);
  b.set(Slot{9}, 1);
  EXPECT_TRUE(a.join(b));
  EXPECT_FALSE(a.join(b));
  EXPECT_EQ(a.get(Slot{0}), 3u);
  EXPECT_EQ(a.get(Slot{9}), 1u);
  EXPECT_EQ(a.get(Slot{500}), 0u);
  EXPECT_TRUE(b.before(a));
  EXPECT_FALSE(a.before(b));
}

TEST_F(ClockTest, JoinOfUnrelatedReleasesIsNeverTakenAsKnown) {
  VectorClock one(arena_), two(arena_), reader(arena_);
  one.set(Slot{1}, 5);
  two.set(Slot{2}, 7);
  ReleaseClock a, b;
  a.set(arena_, ClockSnapshot::copy(arena_, one), Slot{1}, 5);
  b.set(arena_, ClockSnapshot::copy(arena_, two), Slot{2}, 7);
  a.join(arena_, b);
  reader.set(Slot{1}, 5);
  EXPECT_FALSE(a.known_to(reader));
  EXPECT_TRUE(a.join_into(reader));
  EXPECT_EQ(reader.get(Slot{2}), 7u);
}

TEST_F(ClockTest, JoinWithALaterReleaseOfTheSameThreadKeepsTheLaterOne) {
  VectorClock early(arena_), late(arena_);
  early.set(Slot{1}, 5);
  late.set(Slot{1}, 6);
  late.set(Slot{3}, 1);
  ReleaseClock a, b;
  a.set(arena_, ClockSnapshot::copy(arena_, early), Slot{1}, 5);
  b.set(arena_, ClockSnapshot::copy(arena_, late), Slot{1}, 6);
  a.join(arena_, b);
  EXPECT_EQ(a.slot(), Slot{1});
  EXPECT_EQ(a.clock(), 6u);
}

}  // namespace
}  // namespace duress
