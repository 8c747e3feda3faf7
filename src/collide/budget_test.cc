// SPDX-License-Identifier: Apache-2.0
#include "collide/budget.h"

#include <gtest/gtest.h>

namespace duress::collide {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Time kStart{};

/// Samples as often as the budget allows, each costing so much, with a clock that only the samples and the
/// program's own work move. What it came to.
double run(double overhead, Duration cost, Duration length) {
  Budget budget({overhead, 0}, kStart);
  Time now = kStart;
  while (now < kStart + length) {
    if (budget.affords(cost, now)) {
      budget.sampled(now);
      now += cost;
      budget.spend(cost);
    } else {
      now = std::max(budget.when(cost, now), now + microseconds(1));
    }
  }
  return budget.overhead(now);
}

TEST(Budget, HoldsWhatWasAsked) {
  for (double asked : {0.01, 0.05, 0.2, 1.0}) {
    double got = run(asked, microseconds(1200), seconds(20));
    EXPECT_LE(got, asked * 1.01) << asked;
    EXPECT_GE(got, asked * 0.95) << asked;
  }
}

TEST(Budget, NothingForNothing) {
  Budget budget({0, 0}, kStart);
  EXPECT_FALSE(budget.affords(microseconds(1), kStart + seconds(1000)));
  EXPECT_GT(budget.when(microseconds(1), kStart), kStart + seconds(1000));
}

TEST(Budget, AQuietHourIsNoCredit) {
  Budget budget({0.05, 0}, kStart);
  Time now = kStart + std::chrono::hours(1);
  int samples = 0;
  while (budget.affords(milliseconds(1), now)) {
    budget.spend(milliseconds(1));
    ++samples;
  }
  EXPECT_LE(samples, 25);  // half a second's worth
}

TEST(Budget, ABurstOfTrapsOverdraws) {
  Budget budget({0.05, 0}, kStart);
  Time now = kStart + milliseconds(10);
  EXPECT_FALSE(budget.overdrawn(now));
  budget.spend(milliseconds(5));
  EXPECT_TRUE(budget.overdrawn(now));
  EXPECT_FALSE(budget.overdrawn(now + seconds(1)));
}

TEST(Budget, ARateIsKeptWhateverItCosts) {
  Budget budget({0.05, 100}, kStart);
  Time now = kStart;
  int samples = 0;
  while (now < kStart + seconds(10)) {
    if (budget.affords(milliseconds(5), now)) {
      budget.sampled(now);
      budget.spend(milliseconds(5));
      ++samples;
    }
    now += microseconds(100);
  }
  EXPECT_NEAR(samples, 1000, 10);
  EXPECT_FALSE(budget.overdrawn(now));
}

}  // namespace
}  // namespace duress::collide
