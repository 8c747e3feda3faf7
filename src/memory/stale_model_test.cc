// SPDX-License-Identifier: Apache-2.0
//
// The programs of the JUMBLE paper's figures as traces, and what the model does beyond them.
#include "memory/stale_model.h"

#include <gtest/gtest.h>

#include "memory/testing/world.h"

namespace duress::memory {
namespace {

using testing::World;
using Values = std::vector<u64>;

constexpr u64 kObject = 0x7f0000001000;

/// Two threads that never synchronise.
struct TwoThreads : World {
  explicit TwoThreads(StaleModel::Options options = {}) : World(options) {
    threads.start();
    threads.start();
  }
};

// x = new Circle()  ||  if (x != null) x.draw();
TEST(Figure1, EachReadSeesNullAndTheObject) {
  TwoThreads w;
  EXPECT_EQ(w.legal(1, 0, 8), Values{0});
  w.store(0, 0, 8, kObject);
  EXPECT_EQ(w.legal(1, 0, 8), (Values{kObject, 0}));
  EXPECT_EQ(w.load(1, 0, 8, HeuristicId::kSequentiallyConsistent), kObject);  // the check succeeds
  EXPECT_EQ(w.legal(1, 0, 8), (Values{kObject, 0}));                          // and the use may still fail
}

/// Figure 8: ten times the check and use of figure 1, the object made before iteration `made`. True if a use
/// fails.
bool racy_initialisation_fails(HeuristicId heuristic, int made, u64 seed) {
  TwoThreads w;
  w.chooser = testing::SeededChooser(seed);
  for (int i = 0; i < 10; ++i) {
    if (i == made) w.store(0, 0, 8, kObject);
    if (w.load(1, 0, 8, heuristic) != 0 && w.load(1, 0, 8, heuristic) == 0) return true;
  }
  return false;
}

/// How many of 100 runs fail, the object being made in the first half of the loop.
int failures(HeuristicId heuristic) {
  int failed = 0;
  for (int run = 0; run < 100; ++run) failed += racy_initialisation_fails(heuristic, run % 5, run);
  return failed;
}

TEST(Figure8, OldestNeverFailsAndOldestButDifferentDoes) {
  EXPECT_EQ(failures(HeuristicId::kSequentiallyConsistent), 0);
  EXPECT_EQ(failures(HeuristicId::kOldest), 0);
  EXPECT_EQ(failures(HeuristicId::kOldestButDifferent), 100);
  EXPECT_GE(failures(HeuristicId::kRandom), 84);
  EXPECT_GE(failures(HeuristicId::kRandomButDifferent), 92);
}

// Double-checked locking. Offsets: p 0, p->x 8, p->y 16; lock 0.
TEST(Figure2, FieldsOfThePublishedObjectMayBeZero) {
  TwoThreads w;
  w.acquire(0, 0);
  EXPECT_EQ(w.legal(0, 0, 8), Values{0});
  w.store(0, 8, 8, 100);
  w.store(0, 16, 8, 200);
  w.store(0, 0, 8, kObject);
  w.release(0, 0);
  EXPECT_EQ(w.legal(0, 8, 8), Values{100});
  // The other thread's first check sees p or null; if p, it takes no lock, and the fields may be zero.
  EXPECT_EQ(w.legal(1, 0, 8), (Values{kObject, 0}));
  EXPECT_EQ(w.legal(1, 8, 8), (Values{100, 0}));
  EXPECT_EQ(w.legal(1, 16, 8), (Values{200, 0}));
  EXPECT_EQ(w.load(1, 8, 8, HeuristicId::kOldest), 0u);
  // If null, it takes the lock, and then sees everything.
  w.acquire(1, 0);
  EXPECT_EQ(w.legal(1, 0, 8), Values{kObject});
  EXPECT_EQ(w.legal(1, 8, 8), Values{100});
  EXPECT_EQ(w.legal(1, 16, 8), Values{200});
}

// Read, then write: a value that is not written yet is never returned.
TEST(Figure4, NoValuesOfTheFuture) {
  TwoThreads w;
  EXPECT_EQ(w.legal(1, 0, 8), Values{0});
  w.store(0, 0, 8, 1);
  EXPECT_EQ(w.legal(1, 0, 8), (Values{1, 0}));
}

TEST(StaleModelTest, ResultNamesTheStore) {
  TwoThreads w;
  w.store(0, 0, 4, 1, SiteId{11});
  w.store(0, 0, 4, 2, SiteId{12});
  EXPECT_EQ(w.load(1, 0, 4, HeuristicId::kOldest), 0u);
  EXPECT_TRUE(w.last.stale);
  EXPECT_EQ(w.last.site, SiteId{0});
  EXPECT_EQ(w.load(1, 0, 4, HeuristicId::kOldestButDifferent), 1u);
  EXPECT_EQ(w.last.site, SiteId{11});
  EXPECT_EQ(w.last.open, 1u);
  w.load(1, 0, 4, HeuristicId::kSequentiallyConsistent);
  EXPECT_FALSE(w.last.stale);
  EXPECT_EQ(w.model.statistics().stale_reads, 2u);
  EXPECT_EQ(w.model.statistics().open_reads, 3u);
  EXPECT_EQ(w.model.statistics().reads, 3u);
}

// while (!done) {}
TEST(FairnessTest, ASpinningThreadSeesTheNewestValueInTheEnd) {
  TwoThreads w;
  w.store(0, 0, 1, 1);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 16; ++i) EXPECT_EQ(w.load(1, 0, 1, HeuristicId::kOldest), 0u);
    EXPECT_EQ(w.load(1, 0, 1, HeuristicId::kOldest), 1u);
    EXPECT_TRUE(w.last.forced);
  }
}

TEST(FairnessTest, EachThreadIsCountedByItself) {
  TwoThreads w;
  w.threads.start();
  w.store(0, 0, 1, 1);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(w.load(1, 0, 1, HeuristicId::kOldest), 0u);
    EXPECT_EQ(w.load(2, 0, 1, HeuristicId::kOldest), 0u);
  }
  EXPECT_EQ(w.load(1, 0, 1, HeuristicId::kOldest), 1u);
  EXPECT_EQ(w.load(2, 0, 1, HeuristicId::kOldest), 1u);
}

TEST(FairnessTest, AValueOfTwoWordsIsNewestAsAWhole) {
  TwoThreads w;
  u8 ones[16], value[16];
  memset(ones, 1, sizeof ones);
  w.store_bytes(0, 0, 16, ones, Tracking::kBegin);
  HeuristicPicker random(HeuristicId::kRandom, w.chooser);
  int run = 0, longest = 0;
  for (int i = 0; i < 1000; ++i) {
    w.load_bytes(1, 0, 16, value, random);
    run = memcmp(value, ones, sizeof ones) == 0 ? 0 : run + 1;
    longest = run > longest ? run : longest;
  }
  EXPECT_LE(longest, 16);
}

TEST(FairnessTest, UnfairIsStaleForEver) {
  StaleModel::Options unfair;
  unfair.fair_after = 0;
  TwoThreads w(unfair);
  w.store(0, 0, 1, 1);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(w.load(1, 0, 1, HeuristicId::kOldest), 0u);
}

/// All values that a load of 8 bytes returns within 200 draws.
std::vector<u64> drawn(World& w, u32 t, u32 offset) {
  std::vector<u64> values;
  for (int i = 0; i < 200; ++i) {
    u64 v = w.load(t, offset, 8, HeuristicId::kRandom);
    if (std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
  }
  std::sort(values.begin(), values.end());
  return values;
}

TEST(TearingTest, WordsOfEightDoNotTearAlignedValues) {
  TwoThreads w;
  w.store(0, 0, 8, 0x0000000100000001);
  EXPECT_EQ(drawn(w, 1, 0), (Values{0, 0x0000000100000001}));
  EXPECT_EQ(w.last.pieces, 1u);
}

TEST(TearingTest, WordsOfFourTearThem) {
  TwoThreads w({.table = {.tear = 4}});
  w.store(0, 0, 8, 0x0000000100000001);
  EXPECT_EQ(drawn(w, 1, 0), (Values{0, 1, 0x0000000100000000, 0x0000000100000001}));
  EXPECT_EQ(w.last.pieces, 2u);
  EXPECT_EQ(w.model.statistics().instances, 1u);
}

TEST(TearingTest, MisalignedValuesTearAtTheWord) {
  TwoThreads w;
  w.store(0, 5, 8, 0x1111111111111111);
  EXPECT_EQ(drawn(w, 1, 5), (Values{0, 0x0000000000111111, 0x1111111111000000, 0x1111111111111111}));
}

TEST(TearingTest, SixteenBytesTearUnlessTheWordIsSixteen) {
  for (u32 tear : {8u, 16u}) {
    TwoThreads w({.table = {.tear = tear}});
    u8 ones[16], value[16];
    memset(ones, 1, sizeof ones);
    w.store_bytes(0, 0, 16, ones, Tracking::kBegin);
    HeuristicPicker random(HeuristicId::kRandom, w.chooser);
    bool torn = false;
    for (int i = 0; i < 100; ++i) {
      w.load_bytes(1, 0, 16, value, random);
      torn |= value[0] != value[15];
      EXPECT_EQ(value[0], value[7]);
    }
    EXPECT_EQ(torn, tear == 8);
  }
}

}  // namespace
}  // namespace duress::memory
