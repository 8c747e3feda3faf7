// SPDX-License-Identifier: Apache-2.0
#include "search/preemptions.h"

#include <gtest/gtest.h>

#include <vector>

namespace duress::search {
namespace {

using exhaustive::Mode;
using exhaustive::Step;

Step update(int strand, u64 object) {
  Step step;
  step.kind = OpKind::kAtomicRmw;
  step.strand = static_cast<u8>(strand);
  step.add(object, 8, Mode::kWrite, 0);
  return step;
}

Step lock(int strand, OpKind kind) {
  Step step;
  step.kind = kind;
  step.strand = static_cast<u8>(strand);
  step.add(0x900, 1, Mode::kWrite, 0);
  return step;
}

u32 least(const std::vector<Step>& steps) {
  std::vector<const Step*> pointers;
  for (const Step& step : steps) pointers.push_back(&step);
  return least_preemptions(pointers.data(), static_cast<u32>(pointers.size()));
}

TEST(Preemptions, OneThreadAfterTheOtherNeedsNone) {
  EXPECT_EQ(least({update(1, 0x10), update(1, 0x10), update(2, 0x10)}), 0u);
}

TEST(Preemptions, BetweenTwoStepsNeedsOne) {
  EXPECT_EQ(least({update(1, 0x10), update(2, 0x10), update(1, 0x10)}), 1u);
  // Whoever is left with something to do is preempted: the first, then the second, then the first again.
  EXPECT_EQ(least({update(1, 0x10), update(2, 0x10), update(1, 0x10), update(2, 0x10)}), 2u);
  EXPECT_EQ(least({update(1, 0x10), update(2, 0x10), update(1, 0x10), update(2, 0x10), update(1, 0x10)}), 3u);
}

TEST(Preemptions, TheOrderOfIndependentStepsDoesNotCount) {
  EXPECT_EQ(least({update(1, 0x10), update(2, 0x20), update(1, 0x10), update(2, 0x20)}), 0u);
}

TEST(Preemptions, WhoeverMayBeWaitingIsNotPreempted) {
  EXPECT_EQ(least({lock(1, OpKind::kLock), lock(1, OpKind::kUnlock), lock(2, OpKind::kLock),
                   lock(2, OpKind::kUnlock), lock(1, OpKind::kLock)}),
            0u);
}

}  // namespace
}  // namespace duress::search
