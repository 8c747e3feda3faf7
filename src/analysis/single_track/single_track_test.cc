// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using SingleTrackTest = AnalysisTest;

TEST_F(SingleTrackTest, TheOrderThatALockHappenedToGive) {
  Trace trace = {fork(0, 1), lock(0, 0), write(0, 0), unlock(0, 0), lock(1, 0), write(1, 0), unlock(1, 0)};
  EXPECT_FALSE(play(trace, "SingleTrack").warnings.empty());
  Trace joined = {fork(0, 1), write(1, 0), join(0, 1), write(0, 0)};
  EXPECT_TRUE(play(joined, "SingleTrack").warnings.empty());
}

}  // namespace
}  // namespace duress::testing
