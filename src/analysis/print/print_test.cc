// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using PrintTest = AnalysisTest;

TEST_F(PrintTest, ALineAnEvent) {
  Played played = play({write(0, 0), lock(0, 0), unlock(0, 0)}, "Print");
  EXPECT_EQ(played.lines.size(), 4u);  // play() ends with a mapping
  EXPECT_NE(played.lines[0].find("T0 write"), std::string::npos) << played.lines[0];
}

}  // namespace
}  // namespace duress::testing
