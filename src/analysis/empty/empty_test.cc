// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using EmptyTest = AnalysisTest;

TEST_F(EmptyTest, DoesNothing) {
  Played played = play({fork(0, 1), write(0, 0), write(1, 0)}, "Empty");
  EXPECT_TRUE(played.pairs.empty() && played.warnings.empty() && played.lines.empty());
}

}  // namespace
}  // namespace duress::testing
