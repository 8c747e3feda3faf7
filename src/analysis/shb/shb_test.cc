// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using ShbTest = AnalysisTest;

TEST_F(ShbTest, RacesAndWhatOrdersThem) {
  Trace race = {fork(0, 1), write(0, 0), write(1, 0)};
  EXPECT_EQ(play(race, "SHB").pairs, (Pairs{{1, 2}}));
  Trace locked = {fork(0, 1), lock(0, 0), write(0, 0), unlock(0, 0), lock(1, 0), read(1, 0), unlock(1, 0)};
  EXPECT_TRUE(play(locked, "SHB").pairs.empty());
  Trace joined = {fork(0, 1), write(1, 0), join(0, 1), write(0, 0)};
  EXPECT_TRUE(play(joined, "SHB").pairs.empty());
}

TEST_F(ShbTest, AReadOfAWriteComesAfterIt) {
  // The read races with the write; the second pair cannot happen without the first being as it was.
  Trace trace = {fork(0, 1), write(0, 8), write(0, 0), read(1, 0), write(1, 8)};
  EXPECT_EQ(play(trace, "SHB").pairs, (Pairs{{2, 3}}));
  EXPECT_EQ(play(trace, "HappensBefore").pairs, (Pairs{{2, 3}, {1, 4}}));
}

}  // namespace
}  // namespace duress::testing
