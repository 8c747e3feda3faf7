// SPDX-License-Identifier: Apache-2.0
#include "memory/heuristics.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "memory/testing/world.h"

namespace duress::memory {
namespace {

using testing::SeededChooser;

/// Values newest first; each is as old as its place.
Legal legal_of(std::initializer_list<u64> values, int last = -1) {
  Legal legal;
  for (u64 v : values) {
    legal.values[legal.count] = {v, SiteId{0}, static_cast<u16>(legal.count),
                                 last >= 0 && v == static_cast<u64>(last), false};
    ++legal.count;
  }
  return legal;
}

u64 picked(HeuristicId heuristic, const Legal& legal, SeededChooser& chooser) {
  return static_cast<u64>(legal.values[pick_value(heuristic, legal, chooser)].value);
}

TEST(HeuristicsTest, DeterministicOnesDoNotDraw) {
  SeededChooser chooser(1);
  Legal legal = legal_of({3, 2, 1}, 1);
  EXPECT_EQ(picked(HeuristicId::kSequentiallyConsistent, legal, chooser), 3u);
  EXPECT_EQ(picked(HeuristicId::kOldest, legal, chooser), 1u);
  EXPECT_EQ(picked(HeuristicId::kOldestButDifferent, legal, chooser), 2u);
  EXPECT_EQ(chooser.asked, 0u);
}

TEST(HeuristicsTest, OldestCountsTheOldestOccurrence) {
  SeededChooser chooser(1);
  Legal legal = legal_of({3, 2, 1});
  legal.values[0].age = 7;  // the newest value was also the first
  EXPECT_EQ(picked(HeuristicId::kOldest, legal, chooser), 3u);
  legal.values[0].same_as_last = true;
  EXPECT_EQ(picked(HeuristicId::kOldestButDifferent, legal, chooser), 1u);
}

TEST(HeuristicsTest, WithoutALastReadButDifferentIsAny) {
  SeededChooser chooser(1);
  EXPECT_EQ(picked(HeuristicId::kOldestButDifferent, legal_of({3, 2, 1}), chooser), 1u);
}

TEST(HeuristicsTest, NothingDifferentIsTheNewest) {
  SeededChooser chooser(1);
  EXPECT_EQ(picked(HeuristicId::kOldestButDifferent, legal_of({3}, 3), chooser), 3u);
  EXPECT_EQ(picked(HeuristicId::kRandomButDifferent, legal_of({3}, 3), chooser), 3u);
  EXPECT_EQ(chooser.asked, 0u);
}

TEST(HeuristicsTest, RandomReachesAllEvenly) {
  SeededChooser chooser(7);
  int seen[4] = {};
  for (int i = 0; i < 3000; ++i) ++seen[picked(HeuristicId::kRandom, legal_of({1, 2, 3}, 2), chooser)];
  EXPECT_EQ(chooser.asked, 3000u);
  for (int v = 1; v <= 3; ++v) EXPECT_NEAR(seen[v], 1000, 100);
}

TEST(HeuristicsTest, RandomButDifferentNeverRepeats) {
  SeededChooser chooser(7);
  int seen[4] = {};
  for (int i = 0; i < 2000; ++i) {
    ++seen[picked(HeuristicId::kRandomButDifferent, legal_of({1, 2, 3}, 2), chooser)];
  }
  EXPECT_EQ(seen[2], 0);
  EXPECT_NEAR(seen[1], 1000, 100);
  EXPECT_EQ(chooser.asked, 2000u);
  EXPECT_EQ(picked(HeuristicId::kRandomButDifferent, legal_of({1, 2}, 2), chooser), 1u);
  EXPECT_EQ(chooser.asked, 2000u);  // one is left: no draw
}

}  // namespace
}  // namespace duress::memory
