// SPDX-License-Identifier: Apache-2.0
//
// Hybrid names every pair that happens-before calls a race, on random traces; and pairs that only a lock
// which was passed on happened to order.
#include <gtest/gtest.h>

#include "analysis/testing/play.h"
#include "analysis/testing/reference.h"
#include "base/testing/rounds.h"

namespace duress {
namespace {

using testing::Event;
using testing::Op;
using testing::Reference;
using testing::Trace;

struct HybridTest : ::testing::Test {
  void SetUp() override { ASSERT_TRUE(shadow.open(0)); }
  void TearDown() override { shadow.close(); }
  ShadowMap shadow;
};

TEST_F(HybridTest, AllPairsOfHappensBeforeAndMore) {
  size_t racy = 0, more = 0;
  for (u64 seed = 1; seed <= rounds(10000) && !HasFailure(); ++seed) {
    Trace trace = testing::random_trace(seed, {.threads = 4, .events = 40, .plain_bytes = 16});
    Reference reference(trace);
    testing::Played played = testing::play(trace, "Hybrid", shadow);
    for (size_t b = 0; b < trace.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        if (!reference.races(a, b)) continue;
        ++racy;
        EXPECT_TRUE(played.pairs.count({a, b})) << "seed " << seed << " pair " << a << "," << b << "\n"
                                                << testing::to_string(trace);
      }
    }
    for (auto [a, b] : played.pairs) more += !reference.races(a, b);
  }
  EXPECT_GT(racy, rounds(10000));
  EXPECT_GT(more, rounds(1000));
}

TEST_F(HybridTest, ALockThatWasPassedOnOrdersNothing) {
  // x is written before and after critical sections of one lock, which order it in this run only.
  Trace trace = {{.op = Op::kFork, .thread = 0, .other = 1},
                 {.op = Op::kWrite, .thread = 0, .address = 0, .size = 4},
                 {.op = Op::kLock, .thread = 0, .object = 0},
                 {.op = Op::kUnlock, .thread = 0, .object = 0},
                 {.op = Op::kLock, .thread = 1, .object = 0},
                 {.op = Op::kUnlock, .thread = 1, .object = 0},
                 {.op = Op::kWrite, .thread = 1, .address = 0, .size = 4}};
  EXPECT_TRUE(testing::play(trace, "FastTrack", shadow).pairs.empty());
  EXPECT_EQ(testing::play(trace, "Hybrid", shadow).pairs, (std::set<std::pair<size_t, size_t>>{{1, 6}}));
}

TEST_F(HybridTest, ACommonLockOrAMessageIsNoSuspicion) {
  Trace locked = {{.op = Op::kFork, .thread = 0, .other = 1},
                  {.op = Op::kLock, .thread = 0, .object = 0},
                  {.op = Op::kWrite, .thread = 0, .address = 0, .size = 4},
                  {.op = Op::kUnlock, .thread = 0, .object = 0},
                  {.op = Op::kLock, .thread = 1, .object = 0},
                  {.op = Op::kWrite, .thread = 1, .address = 0, .size = 4},
                  {.op = Op::kUnlock, .thread = 1, .object = 0}};
  EXPECT_TRUE(testing::play(locked, "Hybrid", shadow).pairs.empty());
  Trace posted = {{.op = Op::kFork, .thread = 0, .other = 1},
                  {.op = Op::kWrite, .thread = 0, .address = 0, .size = 4},
                  {.op = Op::kPost, .thread = 0, .object = 0},
                  {.op = Op::kWait, .thread = 1, .object = 0},
                  {.op = Op::kWrite, .thread = 1, .address = 0, .size = 4}};
  EXPECT_TRUE(testing::play(posted, "Hybrid", shadow).pairs.empty());
}

TEST_F(HybridTest, ReadLocksDoNotExcludeEachOther) {
  Trace trace = {{.op = Op::kFork, .thread = 0, .other = 1},
                 {.op = Op::kReadLock, .thread = 0, .object = 0},
                 {.op = Op::kReadLock, .thread = 1, .object = 0},
                 {.op = Op::kWrite, .thread = 0, .address = 0, .size = 4},
                 {.op = Op::kRead, .thread = 1, .address = 0, .size = 4}};
  EXPECT_EQ(testing::play(trace, "Hybrid", shadow).pairs, (std::set<std::pair<size_t, size_t>>{{3, 4}}));
}

}  // namespace
}  // namespace duress
