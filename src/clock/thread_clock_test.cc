// SPDX-License-Identifier: Apache-2.0
#include "clock/thread_clock.h"

#include <gtest/gtest.h>

namespace duress {
namespace {

using enum MemoryOrder;

class ThreadClockTest : public ::testing::Test {
 protected:
  ThreadClockTest() : a_(arena_, Slot{0}, 1), b_(arena_, Slot{1}, 1), c_(arena_, Slot{2}, 1) {}
  ~ThreadClockTest() override {}
  /// Does b know all that a has done up to now?
  bool knows(const ThreadClock& b, const ThreadClock& a) { return b.get(a.slot()) >= a.own(); }

  Arena arena_;
  ThreadClock a_, b_, c_;
  ReleaseClock x_, y_;
};

TEST_F(ThreadClockTest, ReleaseAndAcquire) {
  a_.atomic_store(x_, kRelease);
  b_.atomic_load(x_, kAcquire);
  EXPECT_TRUE(knows(b_, a_));
  a_.tick_if_released();
  EXPECT_FALSE(knows(b_, a_)) << "what follows the release is not ordered";
}

TEST_F(ThreadClockTest, RelaxedLoadNeedsAnAcquireFence) {
  a_.atomic_store(x_, kRelease);
  b_.atomic_load(x_, kRelaxed);
  EXPECT_FALSE(knows(b_, a_));
  b_.fence(kAcquire);
  EXPECT_TRUE(knows(b_, a_));
}

TEST_F(ThreadClockTest, RelaxedStoreCarriesTheReleaseFenceAndNothingLater) {
  a_.fence(kRelease);
  a_.tick_if_released();  // an access after the fence
  a_.atomic_store(x_, kRelaxed);
  b_.atomic_load(x_, kAcquire);
  EXPECT_FALSE(knows(b_, a_));
  EXPECT_EQ(b_.get(a_.slot()), a_.own() - 1);
}

TEST_F(ThreadClockTest, ReleaseSequenceGoesThroughRelaxedRmwOnly) {
  a_.atomic_store(x_, kRelease);
  b_.atomic_rmw(x_, kRelaxed);
  c_.atomic_load(x_, kAcquire);
  EXPECT_TRUE(knows(c_, a_));
  EXPECT_FALSE(knows(c_, b_));
  a_.atomic_store(y_, kRelease);
  a_.atomic_store(y_, kRelaxed);  // C++20: a plain store ends the sequence, even by the same thread
  EXPECT_TRUE(y_.empty());
}

TEST_F(ThreadClockTest, ReleaseRmwJoinsWhatItDidNotAcquire) {
  a_.atomic_store(x_, kRelease);
  b_.atomic_rmw(x_, kRelease);
  EXPECT_FALSE(knows(b_, a_));
  c_.atomic_load(x_, kAcquire);
  EXPECT_TRUE(knows(c_, a_));
  EXPECT_TRUE(knows(c_, b_));
}

TEST_F(ThreadClockTest, KnowledgeGainedAfterAReleaseIsNotMistakenForIt) {
  a_.release_to(x_);
  c_.acquire(x_);  // c knows a at its current counter
  b_.release_to(y_);
  a_.acquire(y_);  // a learns of b, with no access between
  a_.release_to(x_);
  c_.acquire(x_);
  EXPECT_TRUE(knows(c_, b_));
}

}  // namespace
}  // namespace duress
