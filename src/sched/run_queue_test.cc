// SPDX-License-Identifier: Apache-2.0
#include "sched/run_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace duress::sched {
namespace {

class RunQueueTest : public ::testing::Test {
 protected:
  RunQueueTest() {
    queue.reserve(kStrands, arena);
    for (u32 i = 0; i < kStrands; ++i) {
      strands[i].number = i;
      queue.add_ready(&strands[i]);
    }
  }
  ~RunQueueTest() override { arena.release_all(); }

  std::vector<u32> ready() const {
    std::vector<u32> numbers;
    for (u32 i = 0; i < queue.ready_count(); ++i) numbers.push_back(queue.ready()[i]->number);
    return numbers;
  }
  std::vector<u32> spinning() const {
    std::vector<u32> numbers;
    for (u32 i = 0; i < queue.spinning_count(); ++i) numbers.push_back(queue.spinning(i)->number);
    return numbers;
  }

  static constexpr u32 kStrands = 4;
  Arena arena;
  RunQueue queue;
  std::array<Strand, kStrands> strands;
};

using Numbers = std::vector<u32>;

TEST_F(RunQueueTest, TheLastReadyStrandTakesThePlaceOfARemovedOne) {
  queue.remove_ready(&strands[1]);
  EXPECT_EQ(ready(), (Numbers{0, 3, 2}));
  queue.remove_ready(&strands[3]);
  EXPECT_EQ(ready(), (Numbers{0, 2}));
  queue.remove_ready(&strands[0]);
  EXPECT_EQ(queue.lowest_ready(), &strands[2]);
  EXPECT_TRUE(queue.is_only_ready(&strands[2]));
  EXPECT_FALSE(queue.is_only_ready(&strands[0]));
}

TEST_F(RunQueueTest, SpinningStrandsTakeTurns) {
  for (u32 i : {2, 0, 1}) queue.step_back(&strands[i]);
  EXPECT_EQ(ready(), (Numbers{3}));
  EXPECT_EQ(spinning(), (Numbers{2, 0, 1}));
  EXPECT_TRUE(strands[0].stepping_back);
  queue.rotate_spinning();
  EXPECT_EQ(spinning(), (Numbers{0, 1, 2}));
  queue.step_forward(&strands[1]);
  EXPECT_EQ(spinning(), (Numbers{0, 2}));
  EXPECT_EQ(ready(), (Numbers{3, 1}));
  EXPECT_FALSE(strands[1].stepping_back);
}

TEST_F(RunQueueTest, AChangeReleasesAllThatSpin) {
  queue.step_back(&strands[3]);
  queue.step_back(&strands[0]);
  queue.release_spinning();
  EXPECT_EQ(ready(), (Numbers{2, 1, 3, 0}));
  EXPECT_EQ(spinning(), Numbers{});
  EXPECT_FALSE(strands[3].stepping_back);
}

TEST_F(RunQueueTest, GrowsWithItsStrands) {
  u32 before = queue.capacity();
  queue.step_back(&strands[2]);
  queue.reserve(before + 1, arena);
  EXPECT_GT(queue.capacity(), before);
  EXPECT_EQ(ready(), (Numbers{0, 1, 3}));
  EXPECT_EQ(spinning(), (Numbers{2}));
}

}  // namespace
}  // namespace duress::sched
