// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using ReadOnlyTest = AnalysisTest;

TEST_F(ReadOnlyTest, PassesOnWhatIsWrittenOnceItIsShared) {
  Played played = play(
      {write(0, 0), write(0, 8), fork(0, 1), read(1, 0), read(1, 8), write(1, 8), read(0, 0), read(0, 8)},
      "ReadOnly:Count");
  EXPECT_EQ(played.lines,
            (std::vector<std::string>{"Count: 1 reads", "Count: 1 writes", "Count: 1 thread creations",
                                      "Count: 1 thread starts", "Count: 2 sites"}));
}

}  // namespace
}  // namespace duress::testing
