// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using LockSetTest = AnalysisTest;

TEST_F(LockSetTest, NoCommonLock) {
  // The third access leaves no lock that protected all since the location was shared.
  Trace wrong = {fork(0, 1),  lock(0, 0),   write(0, 0), unlock(0, 0), lock(1, 1),
                 write(1, 0), unlock(1, 1), lock(0, 0),  write(0, 0),  unlock(0, 0)};
  EXPECT_EQ(play(wrong, "LockSet").first, (std::map<u32, size_t>{{0, 8}, {1, 8}, {2, 8}, {3, 8}}));
}

TEST_F(LockSetTest, InitialisationAndReadingAreNoSuspicion) {
  EXPECT_TRUE(play({write(0, 0), fork(0, 1), fork(0, 2), read(1, 0), read(2, 0)}, "LockSet").pairs.empty());
}

TEST_F(LockSetTest, WhatAJoinOrdersIsSuspectedAllTheSame) {
  EXPECT_FALSE(play({fork(0, 1), write(1, 0), join(0, 1), write(0, 0)}, "LockSet").pairs.empty());
}

}  // namespace
}  // namespace duress::testing
