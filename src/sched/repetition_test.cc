// SPDX-License-Identifier: Apache-2.0
#include "sched/repetition.h"

#include <gtest/gtest.h>

namespace duress::sched {
namespace {

const Operation kLoad = {OpKind::kAtomicRead, 4, 0x1000};
const Operation kLock = {OpKind::kLock, 0, 0x2000};

TEST(Repetition, AStrandThatOnlyObservesStepsBack) {
  Repetition r;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(r.steps_back(kLoad, 0, 0)) << i;
  EXPECT_TRUE(r.steps_back(kLoad, 0, 0));
  EXPECT_FALSE(r.steps_back(kLoad, 1, 0)) << "something has changed";
}

TEST(Repetition, WhereVariablesLieDoesNotMatter) {
  // A loop that waits for four variables, at many distances from each other.
  for (uptr distance = 1; distance < 5'000; ++distance) {
    Repetition r;
    u32 operations = 0;
    auto comes_back = [&] {
      uptr object = 0x1000 + operations++ % 4 * distance;
      return r.steps_back({OpKind::kRead, 4, object}, 0, 0);
    };
    while (!comes_back()) ASSERT_LT(operations, 16u) << distance;
  }
}

TEST(Repetition, AStrandThatObservesManyThingsStepsBack) {
  Repetition r;
  u32 operations = 0;
  while (!r.steps_back({OpKind::kRead, 4, 0x1000 + operations % 500 * 4}, 0, 0)) ++operations;
  EXPECT_LT(operations, 1'024u);
  EXPECT_FALSE(r.steps_back({OpKind::kWrite, 4, 0x1000}, 0, 0));
  for (u32 i = 0; i < 1'000; ++i)
    ASSERT_FALSE(r.steps_back({OpKind::kRead, 4, 0x9000 + i * 4}, 0, 0)) << "it starts over";
}

TEST(Repetition, LocksAreWorkUntilATurnIsLong) {
  Repetition r;
  u32 times = 0;
  while (!r.steps_back(kLock, 0, 0)) ++times;
  EXPECT_EQ(times, 10'000u);
  EXPECT_FALSE(r.steps_back(kLock, 0, 0)) << "it starts over";
}

TEST(Repetition, AnotherStrandsTurnStartsTheCountOver) {
  Repetition r;
  for (u64 i = 0; i < 30'000; ++i) ASSERT_FALSE(r.steps_back(kLock, 0, i / 5'000));
}

TEST(Repetition, FewStatesAreALivelock) {
  Repetition r;
  for (u64 i = 0; i < 100; ++i) EXPECT_TRUE(r.note_state(i % 8));
  EXPECT_FALSE(r.note_state(8));
  r.forget_states();
  EXPECT_TRUE(r.note_state(8));
}

}  // namespace
}  // namespace duress::sched
