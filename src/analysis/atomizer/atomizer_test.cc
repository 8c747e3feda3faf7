// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using AtomizerTest = AnalysisTest;

TEST_F(AtomizerTest, TwoCriticalSectionsAreNotOneBlock) {
  Trace twice = {begin(0), lock(0, 0), unlock(0, 0), lock(0, 0), unlock(0, 0), end(0)};
  EXPECT_EQ(play(twice, "Atomizer").warnings.size(), 1u);
  Trace once = {begin(0), lock(0, 0), lock(0, 1), unlock(0, 1), unlock(0, 0), end(0)};
  EXPECT_TRUE(play(once, "Atomizer").warnings.empty());
}

TEST_F(AtomizerTest, NamesTheAccessOfTheOtherThread) {
  Trace trace = {fork(0, 1), write(0, 0), write(1, 0), begin(0), read(0, 0), write(0, 0), end(0)};
  Played played = play(trace, "Atomizer");
  ASSERT_EQ(played.warnings.size(), 1u);
  const Warning& warning = played.warnings[0];
  ASSERT_EQ(warning.count, 3u);
  EXPECT_EQ(raw(warning.sides[0].place.site), kFirstSite + 5);
  EXPECT_EQ(raw(warning.sides[1].place.site), kFirstSite + 4);
  EXPECT_EQ(raw(warning.sides[2].place.site), kFirstSite + 2);
}

}  // namespace
}  // namespace duress::testing
