// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using SideTrackTest = AnalysisTest;

TEST_F(SideTrackTest, AnotherScheduleWouldCutTheBlock) {
  // Serializable as it is; the other critical section could have come between the two of the block.
  Trace trace = {fork(0, 1),  begin(0),     lock(0, 0), read(0, 0), unlock(0, 0), lock(0, 0),
                 write(0, 0), unlock(0, 0), end(0),     lock(1, 0), write(1, 0),  unlock(1, 0)};
  EXPECT_TRUE(play(trace, "Velodrome").warnings.empty());
  EXPECT_FALSE(play(trace, "SideTrack").warnings.empty());
}

}  // namespace
}  // namespace duress::testing
