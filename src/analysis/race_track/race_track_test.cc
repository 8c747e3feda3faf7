// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using RaceTrackTest = AnalysisTest;

TEST_F(RaceTrackTest, ThreadsThatMessagesOrderAreNotConcurrent) {
  EXPECT_TRUE(
      play({fork(0, 1), write(1, 0), join(0, 1), write(0, 0), write(0, 0)}, "RaceTrack").pairs.empty());
}

TEST_F(RaceTrackTest, ConcurrentUsersWithoutALock) {
  EXPECT_FALSE(
      play({fork(0, 1), write(0, 0), write(1, 0), write(0, 0), write(1, 0)}, "RaceTrack").pairs.empty());
}

}  // namespace
}  // namespace duress::testing
