// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using JrfTest = AnalysisTest;

TEST_F(JrfTest, AnEarlierWriteThatIsNotInH) {
  Trace race = {fork(0, 1), write(0, 0), read(1, 0)};
  EXPECT_EQ(play(race, "JRF").pairs, (Pairs{{1, 2}}));
  Trace locked = {fork(0, 1), lock(0, 0), write(0, 0), unlock(0, 0), lock(1, 0), read(1, 0), unlock(1, 0)};
  Played played = play(locked, "JRF");
  EXPECT_TRUE(played.pairs.empty());
  EXPECT_GT(played.counters["JRF: acquire"], 0u);
  EXPECT_GT(played.counters["JRF: release"], 0u);
}

TEST_F(JrfTest, ARaceWithAnEarlierReadIsNotItsOwn) {
  EXPECT_TRUE(play({fork(0, 1), read(0, 0), write(1, 0)}, "JRF").pairs.empty());
}

}  // namespace
}  // namespace duress::testing
