// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using CountTest = AnalysisTest;

TEST_F(CountTest, CountsAndForwards) {
  Played played = play({read(0, 0), read(0, 0), write(0, 0), lock(0, 0)}, "Count:Count");
  std::vector<std::string> once = {"Count: 2 reads", "Count: 1 writes", "Count: 1 mutex locks",
                                   "Count: 3 sites"};
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(played.lines, twice);
}

}  // namespace
}  // namespace duress::testing
