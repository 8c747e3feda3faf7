// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using HappensBeforeTest = AnalysisTest;

TEST_F(HappensBeforeTest, RacesAndWhatOrdersThem) {
  Trace race = {fork(0, 1), write(0, 0), write(1, 0)};
  EXPECT_EQ(play(race, "HappensBefore").pairs, (Pairs{{1, 2}}));
  Trace locked = {fork(0, 1), lock(0, 0), write(0, 0), unlock(0, 0), lock(1, 0), read(1, 0), unlock(1, 0)};
  EXPECT_TRUE(play(locked, "HappensBefore").pairs.empty());
  Trace joined = {fork(0, 1), write(1, 0), join(0, 1), write(0, 0)};
  EXPECT_TRUE(play(joined, "HappensBefore").pairs.empty());
}

TEST_F(HappensBeforeTest, EveryAccessIsCompared) {
  Played played = play({write(0, 0), write(0, 0), write(0, 0)}, "HappensBefore");
  EXPECT_GE(played.counters["HappensBefore: comparisons"], 3u);
}

}  // namespace
}  // namespace duress::testing
