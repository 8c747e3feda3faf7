// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using VelodromeTest = AnalysisTest;

TEST_F(VelodromeTest, ABlockThatAnotherCutsInTwo) {
  Trace cut = {fork(0, 1), begin(0), read(0, 0), write(1, 0), write(0, 0), end(0)};
  EXPECT_EQ(play(cut, "Velodrome").warnings.size(), 1u);
  Trace whole = {fork(0, 1), begin(0), read(0, 0), write(0, 0), end(0), write(1, 0)};
  EXPECT_TRUE(play(whole, "Velodrome").warnings.empty());
}

}  // namespace
}  // namespace duress::testing
