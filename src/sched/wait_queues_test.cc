// SPDX-License-Identifier: Apache-2.0
#include "sched/wait_queues.h"

#include <gtest/gtest.h>

#include <array>

namespace duress::sched {
namespace {

class WaitQueuesTest : public ::testing::Test {
 protected:
  WaitQueuesTest() {
    for (u32 i = 0; i < strands.size(); ++i) strands[i].id = i;
  }
  ~WaitQueuesTest() override { arena.release_all(); }

  static constexpr uptr kLock = 0x1000, kOther = 0x2000;
  Arena arena;
  WaitQueues queues{arena};
  std::array<Strand, 3> strands;
};

TEST_F(WaitQueuesTest, WaitersAreInOrderOfArrival) {
  for (u32 i : {1, 0, 2}) queues.enqueue(&strands[i], kLock);
  WaitQueues::Object* o = queues.find(kLock);
  ASSERT_NE(o, nullptr);
  EXPECT_EQ(o->waiting, 3u);
  EXPECT_EQ(o->first, &strands[1]);
  EXPECT_EQ(o->last, &strands[2]);
  EXPECT_EQ(queues.waiting_in(kLock), 0b111u);
  queues.dequeue(&strands[2]);
  EXPECT_EQ(o->last, &strands[0]);
  queues.dequeue(&strands[1]);
  EXPECT_EQ(o->first, &strands[0]);
  EXPECT_EQ(queues.waiting_in(kLock), 0b001u);
  EXPECT_FALSE(strands[1].wait.queued);
  queues.dequeue(&strands[1]);  // waits nowhere
  EXPECT_EQ(o->waiting, 1u);
}

TEST_F(WaitQueuesTest, AnEntryIsKeptWhileItIsUsed) {
  queues.enqueue(&strands[0], kLock);
  queues.get(kOther).holder = &strands[1];
  queues.drop_if_unused(queues.get(kOther));
  EXPECT_EQ(queues.holder_of(kOther), &strands[1]);
  queues.dequeue(&strands[0]);
  EXPECT_EQ(queues.find(kLock), nullptr);
  queues.get(kOther).holder = nullptr;
  queues.drop_if_unused(queues.get(kOther));
  EXPECT_EQ(queues.find(kOther), nullptr);
  EXPECT_EQ(queues.holder_of(kOther), nullptr);
}

TEST_F(WaitQueuesTest, ClearForgetsEverything) {
  queues.enqueue(&strands[0], kLock);
  queues.get(kOther).holder = &strands[1];
  queues.clear();
  EXPECT_EQ(queues.find(kLock), nullptr);
  EXPECT_EQ(queues.find(kOther), nullptr);
}

TEST_F(WaitQueuesTest, AForkedChildKeepsHoldersOnly) {
  queues.get(kLock).holder = &strands[1];
  queues.enqueue(&strands[0], kLock);
  queues.forget_waiting();
  EXPECT_EQ(queues.waiting_in(kLock), 0u);
  EXPECT_EQ(queues.holder_of(kLock), &strands[1]);
}

}  // namespace
}  // namespace duress::sched
