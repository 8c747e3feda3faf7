// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using LockOrderTest = AnalysisTest;

TEST_F(LockOrderTest, TwoLocksInBothOrders) {
  Trace trace = {fork(0, 1), lock(0, 0), lock(0, 1), unlock(0, 1), unlock(0, 0), lock(1, 1), lock(1, 0)};
  EXPECT_EQ(play(trace, "LockOrder").warnings.size(), 1u);
}

TEST_F(LockOrderTest, AGateOrAMessageKeepsThemApart) {
  Trace gated = {fork(0, 1),   lock(0, 2),   lock(0, 0), lock(0, 1), unlock(0, 1),
                 unlock(0, 0), unlock(0, 2), lock(1, 2), lock(1, 1), lock(1, 0)};
  EXPECT_TRUE(play(gated, "LockOrder").warnings.empty());
  Trace joined = {fork(0, 1),   lock(1, 0), lock(1, 1), unlock(1, 1),
                  unlock(1, 0), join(0, 1), lock(0, 1), lock(0, 0)};
  EXPECT_TRUE(play(joined, "LockOrder").warnings.empty());
}

}  // namespace
}  // namespace duress::testing
