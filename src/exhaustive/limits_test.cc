// SPDX-License-Identifier: Apache-2.0
#include "exhaustive/limits.h"

#include <gtest/gtest.h>

namespace duress::exhaustive {
namespace {

// A limit without a text would make an exploration look complete.
TEST(Limits, EachHasAText) {
  constexpr u32 kDiscarded = StepLog::kIllegal | StepLog::kAwaitBlocked;
  for (u32 limit = StepLog::kTooManySteps; limit <= StepLog::kLast; limit <<= 1) {
    if (limit & kDiscarded) continue;
    EXPECT_NE(limit_text(limit, Explored::kClosure), nullptr) << limit;
    // verify names the operations instead.
    if (limit != StepLog::kNotExplored) {
      EXPECT_NE(limit_text(limit, Explored::kProgram), nullptr) << limit;
    }
  }
  EXPECT_EQ(limit_text(kDiscarded, Explored::kClosure), nullptr);
  EXPECT_EQ(limit_text(0, Explored::kClosure), nullptr);
}

TEST(Limits, TheMostSevereComesFirst) {
  EXPECT_STREQ(limit_text(StepLog::kClock | StepLog::kTooManyStrands, Explored::kProgram),
               "there are more than 64 threads");
  EXPECT_STREQ(limit_text(StepLog::kClock, Explored::kProgram), "the program looks at a clock");
  EXPECT_STREQ(limit_text(StepLog::kClock, Explored::kClosure), "the closure looks at a clock");
}

}  // namespace
}  // namespace duress::exhaustive
