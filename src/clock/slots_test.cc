// SPDX-License-Identifier: Apache-2.0
#include "clock/slots.h"

#include <gtest/gtest.h>

#include <memory>

namespace duress {
namespace {

TEST(Slots, ReusedOnlyWhenTheCreatorKnowsTheDeadThread) {
  Arena arena;
  auto slots = std::make_unique<Slots>(arena);
  VectorClock creator(arena);
  Slots::Taken main = slots->take(creator);
  Slots::Taken worker = slots->take(creator);
  EXPECT_EQ(main.slot, Slot{0});
  EXPECT_EQ(worker.slot, Slot{1});
  slots->give_back(worker.slot, 7);
  EXPECT_EQ(slots->take(creator).slot, Slot{2}) << "not joined: its accesses may still race";
  creator.set(worker.slot, 7);
  Slots::Taken again = slots->take(creator);
  EXPECT_EQ(again.slot, worker.slot);
  EXPECT_EQ(again.first, 8u);
  EXPECT_EQ(slots->inexact(), 0u);
}

TEST(Slots, ManyDetachedThreadsStayBounded) {
  Arena arena;
  auto slots = std::make_unique<Slots>(arena);
  VectorClock creator(arena);
  for (int i = 0; i < 100000; ++i) slots->give_back(slots->take(creator).slot, 5);
  EXPECT_LE(slots->used(), Slots::kPlenty);
  EXPECT_GT(slots->inexact(), 0u);
}

}  // namespace
}  // namespace duress
