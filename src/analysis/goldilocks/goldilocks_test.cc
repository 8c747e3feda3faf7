// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/analysis_test.h"

namespace duress::testing {
namespace {

using GoldilocksTest = AnalysisTest;

TEST_F(GoldilocksTest, RacesAndWhatOrdersThem) {
  Trace race = {fork(0, 1), write(0, 0), write(1, 0)};
  EXPECT_EQ(play(race, "Goldilocks").pairs, (Pairs{{1, 2}}));
  Trace locked = {fork(0, 1), lock(0, 0), write(0, 0), unlock(0, 0), lock(1, 0), read(1, 0), unlock(1, 0)};
  EXPECT_TRUE(play(locked, "Goldilocks").pairs.empty());
  Trace joined = {fork(0, 1), write(1, 0), join(0, 1), write(0, 0)};
  EXPECT_TRUE(play(joined, "Goldilocks").pairs.empty());
}

TEST_F(GoldilocksTest, UnderTheSameLockNothingIsWalked) {
  Trace trace = {fork(0, 1), lock(0, 0), write(0, 0), unlock(0, 0)};
  for (int i = 0; i < 100; ++i) {
    trace.push_back(lock(0, 1));
    trace.push_back(unlock(0, 1));
  }
  trace.push_back(lock(1, 0));
  trace.push_back(write(1, 0));
  Played played = play(trace, "Goldilocks");
  EXPECT_TRUE(played.pairs.empty());
  EXPECT_EQ(played.counters["Goldilocks: short circuits"], 1u);
  EXPECT_EQ(played.counters["Goldilocks: rules applied"], 0u);
}

TEST_F(GoldilocksTest, ALockIsHandedOnThroughAnother) {
  // Thread 1 takes what thread 0 left under lock 0, and leaves it under lock 1 to thread 2.
  Trace trace = {fork(0, 1), fork(0, 2),   lock(0, 0),   write(0, 0), unlock(0, 0), lock(1, 0),
                 lock(1, 1), unlock(1, 1), unlock(1, 0), lock(2, 1),  write(2, 0)};
  EXPECT_TRUE(play(trace, "Goldilocks").pairs.empty());
  EXPECT_GT(play(trace, "Goldilocks").counters["Goldilocks: rules applied"], 0u);
}

}  // namespace
}  // namespace duress::testing
