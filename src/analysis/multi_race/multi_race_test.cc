// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using MultiRaceTest = AnalysisTest;

TEST_F(MultiRaceTest, RacesAndWhatOrdersThem) {
  Trace race = {fork(0, 1), write(0, 0), write(1, 0)};
  EXPECT_EQ(play(race, "MultiRace").pairs, (Pairs{{1, 2}}));
  Trace locked = {fork(0, 1), lock(0, 0), write(0, 0), unlock(0, 0), lock(1, 0), read(1, 0), unlock(1, 0)};
  EXPECT_TRUE(play(locked, "MultiRace").pairs.empty());
  Trace joined = {fork(0, 1), write(1, 0), join(0, 1), write(0, 0)};
  EXPECT_TRUE(play(joined, "MultiRace").pairs.empty());
}

TEST_F(MultiRaceTest, LocksDecideWhereTheyCan) {
  Trace trace = {fork(0, 1)};
  for (int round = 0; round < 4; ++round) {
    for (int t = 0; t < 2; ++t) {
      for (const Event& e : {lock(t, 0), write(t, 0), unlock(t, 0)}) trace.push_back(e);
    }
  }
  Played played = play(trace, "MultiRace");
  EXPECT_TRUE(played.pairs.empty());
  EXPECT_GT(played.counters["MultiRace: decided by locks"], 0u);
}

}  // namespace
}  // namespace duress::testing
