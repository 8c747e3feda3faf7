// SPDX-License-Identifier: Apache-2.0
#include "runtime/race_prefilter.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/prng.h"

namespace duress {
namespace {

constexpr uptr kHere = 0x7f0000001000;

class RacePrefilterTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(s->prepare()); }

  /// Whether an execution of `body` can have a race, run again as often as it has to be.
  template <typename Body>
  bool race_possible(Body body) {
    int runs = 0;
    do {
      s->begin();
      body();
    } while (s->must_rerun() && !s->race_possible() && ++runs < 100);
    EXPECT_LT(runs, 100);
    return s->race_possible();
  }
  std::unique_ptr<RacePrefilter> s = std::make_unique<RacePrefilter>();
};

TEST_F(RacePrefilterTest, CreationOrders) {
  EXPECT_FALSE(race_possible([&] {
    s->created(0, 1);
    s->access(kHere, 4, true, 0);
    s->created(0, 2);
    s->access(kHere, 4, true, 2);
  }));
}

TEST_F(RacePrefilterTest, WhatTheCreatorDoesAfterwardsIsNotOrdered) {
  EXPECT_TRUE(race_possible([&] {
    s->created(0, 1);
    s->access(kHere, 4, true, 0);
    s->access(kHere, 4, false, 1);
  }));
}

TEST_F(RacePrefilterTest, SaysWhoseMemoryItIs) {
  s->begin();
  s->created(0, 1);
  EXPECT_FALSE(s->knows(2));
  s->created(0, 2);
  EXPECT_TRUE(s->knows(2));
  s->access(kHere, 16, true, 1);
  s->atomic(kHere + 16, 4, true, 2);
  EXPECT_TRUE(s->owned(kHere + 4, 12, 1));
  EXPECT_FALSE(s->owned(kHere + 4, 12, 2));
  EXPECT_FALSE(s->owned(kHere + 8, 16, 1));  // the atomic one behind it
  EXPECT_TRUE(s->only_atomics(kHere + 16, 8));
  EXPECT_TRUE(s->only_atomics(kHere + 24, 8));  // nobody's
  EXPECT_FALSE(s->only_atomics(kHere + 12, 8));
  s->access(kHere + 16, 4, false, 1);
  EXPECT_FALSE(s->only_atomics(kHere + 16, 4));
  EXPECT_FALSE(s->owned(kHere + 16, 4, 1));
  s->access(kHere, 1, false, 2);
  EXPECT_FALSE(s->owned(kHere, 8, 1));
  EXPECT_TRUE(s->owned(kHere + 8, 8, 1));
}

TEST_F(RacePrefilterTest, JoiningOrders) {
  EXPECT_FALSE(race_possible([&] {
    s->created(0, 1);
    s->created(0, 2);
    s->access(kHere, 4, true, 1);
    s->joined(0, 1);
    EXPECT_FALSE(s->single_strand());
    s->access(kHere, 4, true, 0);
  }));
}

TEST_F(RacePrefilterTest, ReadsAreNoPair) {
  for (bool write : {false, true}) {
    EXPECT_EQ(race_possible([&] {
                s->created(0, 1);
                s->access(kHere, 4, false, 0);
                s->access(kHere, 4, false, 1);
                if (write) s->access(kHere, 4, true, 1);
              }),
              write);
  }
}

TEST_F(RacePrefilterTest, AnEarlierReaderIsNotForgotten) {
  EXPECT_TRUE(race_possible([&] {
    s->created(0, 1);
    s->created(0, 2);
    s->access(kHere, 4, false, 1);
    s->access(kHere, 4, false, 2);
    s->joined(0, 2);
    s->access(kHere, 4, true, 0);  // the other reader is not joined
  }));
}

TEST_F(RacePrefilterTest, AtomicsAreNoPairAmongThemselves) {
  for (bool plain : {false, true}) {
    EXPECT_EQ(race_possible([&] {
                s->created(0, 1);
                s->atomic(kHere, 4, true, 0);
                s->atomic(kHere, 4, true, 1);
                if (plain) s->access(kHere, 4, false, 0);
              }),
              plain);
  }
}

TEST_F(RacePrefilterTest, APlainAccessBeforeAnAtomicOne) {
  for (bool write : {false, true}) {
    EXPECT_EQ(race_possible([&] {
                s->created(0, 1);
                s->access(kHere, 4, false, 0);
                s->atomic(kHere, 4, write, 1);
              }),
              write);
  }
}

TEST_F(RacePrefilterTest, ARangeAndALongOne) {
  for (bool overlap : {false, true}) {
    s->forget();
    EXPECT_EQ(race_possible([&] {
                s->created(0, 1);
                s->access(kHere, 100, true, 0);
                s->access(kHere + 100, 8, true, 1);
                if (overlap) s->access(kHere + 99, 1, true, 1);
              }),
              overlap);
  }
  EXPECT_TRUE(race_possible([&] {
    s->created(0, 1);
    s->access(kHere, 1 << 20, true, 0);  // more than is remembered
  }));
}

TEST_F(RacePrefilterTest, TooManyPlacesOrStrandsAreSuspect) {
  EXPECT_TRUE(race_possible([&] {
    s->created(0, 1);
    for (u64 i = 0; i < 100000 && !s->race_possible(); ++i) s->access(kHere + 8 * i, 8, true, 0);
  }));
  for (bool more : {false, true}) {
    EXPECT_EQ(race_possible([&] {
                for (u32 i = 1; i < RacePrefilter::kMostStrands + more; ++i) s->created(0, i);
              }),
              more);
  }
}

TEST_F(RacePrefilterTest, HalvesOfAGranuleAreApart) {
  for (bool overlap : {false, true}) {
    EXPECT_EQ(race_possible([&] {
                s->created(0, 1);
                s->access(kHere, 4, true, 0);
                s->access(kHere + 4, 4, true, 1);
                s->access(kHere + 8, 8, true, 0);
                if (overlap) s->access(kHere + 12, 1, false, 1);
              }),
              overlap);
  }
}

TEST_F(RacePrefilterTest, TheFirstStrandOwnsAGranule) {
  s->begin();
  s->created(0, 1);
  s->access(kHere, 8, true, 1);
  EXPECT_TRUE(RacePrefilter::owned_by(s->owners(), kHere + 4, 1));
  EXPECT_FALSE(RacePrefilter::owned_by(s->owners(), kHere + 4, 0));
  EXPECT_FALSE(RacePrefilter::owned_by(s->owners(), kHere + 8, 1));
  s->access(kHere, 1, false, 0);
  EXPECT_TRUE(s->must_rerun());
  EXPECT_FALSE(RacePrefilter::owned_by(s->owners(), kHere, 1));
  s->forget();
  s->begin();
  s->created(0, 1);
  s->access(kHere, 1, false, 0);
  EXPECT_TRUE(RacePrefilter::owned_by(s->owners(), kHere, 0));
}

TEST_F(RacePrefilterTest, AnotherExecutionKnowsNothing) {
  s->created(0, 1);
  s->access(kHere, 4, true, 1);
  EXPECT_FALSE(race_possible([&] {
    s->created(0, 1);
    s->access(kHere, 4, true, 0);
  }));
}

/// All accesses, compared in pairs, with the order of creations and joins.
class AllPairs {
 public:
  explicit AllPairs(u32 strands) : known_(strands, std::vector<u32>(strands)) { known_[0][0] = 1; }
  void created(u32 parent, u32 child) {
    known_[child] = known_[parent];
    known_[child][child] = 1;
    ++known_[parent][parent];
  }
  void joined(u32 by, u32 child) {
    for (u32 i = 0; i < known_.size(); ++i) known_[by][i] = std::max(known_[by][i], known_[child][i]);
  }
  bool access(uptr at, bool write, bool atomic, u32 strand) {
    bool pair = false;
    for (const Access& a : all_) {
      bool conflict = a.at == at && (a.write || write) && !(a.atomic && atomic);
      pair |= conflict && a.strand != strand && known_[strand][a.strand] < a.epoch;
    }
    all_.push_back({at, strand, known_[strand][strand], write, atomic});
    return pair;
  }

 private:
  struct Access {
    uptr at;
    u32 strand, epoch;
    bool write, atomic;
  };
  std::vector<std::vector<u32>> known_;
  std::vector<Access> all_;
};

// No pair may be missed. (Reporting too many only costs time.)
TEST_F(RacePrefilterTest, MissesNothing) {
  constexpr u32 kStrands = 5;
  u32 pairs = 0, without = 0;
  for (u64 seed = 0; seed < 20000; ++seed) {
    if (seed % 3 == 0) s->forget();
    bool pair = false;
    bool possible = race_possible([&] {
      Prng prng(seed);
      AllPairs all(kStrands);
      u32 made = 1;
      std::vector<u32> running = {0};
      for (int i = 0; i < 14; ++i) {
        u32 me = running[prng.below(running.size())];
        u64 what = prng.below(8);
        if (what == 0 && made < kStrands) {
          s->created(me, made);
          all.created(me, made);
          running.push_back(made++);
        } else if (what == 1 && running.back() != me) {
          s->joined(me, running.back());
          all.joined(me, running.back());
          running.pop_back();
        } else if (what > 1) {
          uptr at = kHere + 8 * prng.below(3);
          bool write = prng.chance(1, 3), atomic = prng.chance(1, 4);
          if (atomic) {
            s->atomic(at, 4, write, me);
          } else {
            s->access(at, 4, write, me);
          }
          pair |= all.access(at, write, atomic, me);
        }
      }
    });
    ASSERT_TRUE(!pair || possible) << seed;
    pairs += pair;
    without += !possible;
  }
  EXPECT_GT(pairs, 1000u);
  EXPECT_GT(without, 1000u);
}

}  // namespace
}  // namespace duress
