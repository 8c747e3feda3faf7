// SPDX-License-Identifier: Apache-2.0
#include "classify/fisher.h"

#include <gtest/gtest.h>

namespace duress::classify {
namespace {

TEST(Fisher, TheLadyTastingTea) {
  // Of 8 cups 4 are guessed: 1 of the 70 ways gets all right, 16 get three of four.
  EXPECT_NEAR(fisher({4, 4}, {0, 4}), 1.0 / 70, 1e-12);
  EXPECT_NEAR(fisher({3, 4}, {1, 4}), 17.0 / 70, 1e-12);
  EXPECT_NEAR(fisher({2, 4}, {2, 4}), 53.0 / 70, 1e-12);
  EXPECT_NEAR(fisher({0, 4}, {4, 4}), 1, 1e-12);
}

TEST(Fisher, FailuresThatNeverComeOnTheOtherSide) {
  // 20 over 10, divided by 40 over 10.
  EXPECT_NEAR(fisher({10, 20}, {0, 20}), 184756.0 / 847660528, 1e-12);
  // 50 49 48 / 100 99 98: what three failures in 50 runs are worth.
  EXPECT_NEAR(fisher({3, 50}, {0, 50}), 50.0 * 49 * 48 / (100.0 * 99 * 98), 1e-12);
}

TEST(Fisher, GroupsOfDifferentSize) {
  // 5 failures on 10 and 30 runs, 4 or 5 of them on the 10: (210 * 30 + 252) / (40 over 5).
  EXPECT_NEAR(fisher({4, 10}, {1, 30}), (210.0 * 30 + 252) / 658008, 1e-12);
}

TEST(Fisher, NothingToCompare) {
  EXPECT_EQ(fisher({3, 50}, {0, 0}), 1);
  EXPECT_EQ(fisher({0, 0}, {3, 50}), 1);
  EXPECT_NEAR(fisher({0, 50}, {0, 50}), 1, 1e-12);
  EXPECT_NEAR(fisher({50, 50}, {50, 50}), 1, 1e-12);
}

TEST(Fisher, ManyRuns) {
  EXPECT_LT(fisher({5000, 10000}, {4000, 10000}), 1e-40);
  EXPECT_GT(fisher({5000, 10000}, {4990, 10000}), 0.4);
}

}  // namespace
}  // namespace duress::classify
