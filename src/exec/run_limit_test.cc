// SPDX-License-Identifier: Apache-2.0
#include "exec/run_limit.h"

#include <gtest/gtest.h>

namespace duress::exec {
namespace {

TEST(RunLimit, StepsEndARunHoweverBusyTheMachineIs) {
  RunLimit limit(1'000'000);
  for (u64 steps = 60'000; steps < 1'000'000; steps += 60'000) EXPECT_TRUE(limit.goes_on(steps)) << steps;
}

TEST(RunLimit, TheDefaultIsTheSchedulers) {
  RunLimit limit(0);
  EXPECT_TRUE(limit.goes_on(trail::kDefaultMostSteps / 2));
}

TEST(RunLimit, TimeEndsARunWithoutSteps) {
  EXPECT_FALSE(RunLimit(1'000'000).goes_on(0));
  EXPECT_FALSE(RunLimit(1'000'000).goes_on(1000));  // 1,000 times its time for all steps
  RunLimit stops(1'000'000);                        // it took steps, and then only waited
  EXPECT_TRUE(stops.goes_on(500'000));
  EXPECT_FALSE(stops.goes_on(500'000));
  RunLimit slows(1'000'000);
  EXPECT_TRUE(slows.goes_on(500'000));
  EXPECT_FALSE(slows.goes_on(501'000));
}

TEST(RunLimit, ARecordThatWasWrittenOverBuysNoTimeWithoutEnd) {
  RunLimit limit(1'000'000);
  u64 periods = 0, steps = ~u64{0};
  while (limit.goes_on(steps -= 7)) ++periods;
  EXPECT_LT(periods, RunLimit::kMostPeriods);
}

}  // namespace
}  // namespace duress::exec
