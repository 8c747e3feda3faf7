// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using DjitTest = AnalysisTest;

TEST_F(DjitTest, RacesAndWhatOrdersThem) {
  Trace race = {fork(0, 1), write(0, 0), write(1, 0)};
  EXPECT_EQ(play(race, "DJIT+").pairs, (Pairs{{1, 2}}));
  Trace locked = {fork(0, 1), lock(0, 0), write(0, 0), unlock(0, 0), lock(1, 0), read(1, 0), unlock(1, 0)};
  EXPECT_TRUE(play(locked, "DJIT+").pairs.empty());
  Trace joined = {fork(0, 1), write(1, 0), join(0, 1), write(0, 0)};
  EXPECT_TRUE(play(joined, "DJIT+").pairs.empty());
}

TEST_F(DjitTest, OnlyTheFirstAccessOfATimeFrameIsCompared) {
  Played played = play({write(0, 0), write(0, 0), lock(0, 0), unlock(0, 0), write(0, 0)}, "DJIT+");
  EXPECT_EQ(played.counters["DJIT+: first in time frame"], 2u);
  EXPECT_EQ(played.counters["DJIT+: same time frame"], 1u);
}

}  // namespace
}  // namespace duress::testing
