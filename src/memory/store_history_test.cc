// SPDX-License-Identifier: Apache-2.0
#include "memory/store_history.h"

#include <gtest/gtest.h>

#include "base/scoped_arena.h"
#include "memory/testing/world.h"

namespace duress::memory {
namespace {

using testing::Threads;

class StoreHistoryTest : public ::testing::Test {
 protected:
  StoreHistoryTest() : threads_(arena_), history_(arena_, statistics_, 0x1000, 8, 0, 1) {}
  ~StoreHistoryTest() override {
    for (ReleaseClock& lock : locks_) lock.clear(arena_);
  }

  void store(u32 t, u64 value) {
    history_.store(threads_.writer(t), value, SiteId{t + 1}, ++moment_, threads_);
  }
  void acquire(u32 t, u32 lock) { threads_[t].acquire(locks_[lock]); }
  void release(u32 t, u32 lock) { threads_[t].release_to(locks_[lock]); }
  /// Oldest first.
  std::vector<u64> visible(u32 t) {
    std::vector<u64> values;
    u32 bits = history_.visible(threads_[t].clock());
    for (u32 i = 0; i < history_.count(); ++i) {
      if (bits >> i & 1) values.push_back(static_cast<u64>(history_.entry(i).value));
    }
    return values;
  }
  std::vector<u64> entries() {
    std::vector<u64> values;
    for (u32 i = 0; i < history_.count(); ++i) {
      values.push_back(static_cast<u64>(history_.entry(i).value));
    }
    return values;
  }

  ScopedArena arena_;
  Statistics statistics_;
  Threads threads_;
  ReleaseClock locks_[2];
  StoreHistory history_;
  u64 moment_ = 1;
};

using Values = std::vector<u64>;

TEST_F(StoreHistoryTest, InitialValueIsVisibleToAll) {
  threads_.start();
  threads_.start();
  EXPECT_EQ(visible(0), Values{0});
  EXPECT_EQ(visible(1), Values{0});
}

TEST_F(StoreHistoryTest, StorerSeesItsStoreAndOthersBoth) {
  threads_.start();
  threads_.start();
  store(0, 5);
  EXPECT_EQ(visible(0), Values{5});
  EXPECT_EQ(visible(1), (Values{0, 5}));
}

// The paper's figure 7, step by step.
TEST_F(StoreHistoryTest, Figure7) {
  threads_.start();
  threads_.start();
  acquire(0, 0);
  store(0, 13);
  store(0, 42);
  release(0, 0);
  EXPECT_EQ(visible(1), (Values{0, 13, 42}));
  acquire(1, 0);
  EXPECT_EQ(visible(1), Values{42});
  EXPECT_EQ(entries(), (Values{0, 13, 42}));
  history_.remove_invisible(threads_);
  EXPECT_EQ(entries(), Values{42});
  EXPECT_EQ(statistics_.gc1, 2u);
}

TEST_F(StoreHistoryTest, RaceFreeReadSeesBothOfTwoRacingStores) {
  for (int i = 0; i < 3; ++i) threads_.start();
  store(0, 1);
  store(1, 2);
  release(0, 0);
  release(1, 1);
  acquire(2, 0);
  acquire(2, 1);
  EXPECT_EQ(visible(2), (Values{1, 2}));
}

TEST_F(StoreHistoryTest, OrderOfEntriesTellsEqualTimesApart) {
  threads_.start();
  threads_.start();
  store(0, 1);
  store(0, 2);
  release(0, 0);
  acquire(1, 0);
  EXPECT_EQ(visible(1), Values{2});
}

TEST_F(StoreHistoryTest, ReadsChangeNothing) {
  threads_.start();
  threads_.start();
  store(0, 1);
  EXPECT_EQ(visible(1), (Values{0, 1}));
  EXPECT_EQ(visible(1), (Values{0, 1}));  // no coherence of reads in PJMM: an older value may come again
}

TEST_F(StoreHistoryTest, Gc1KeepsWhatOneThreadSees) {
  for (int i = 0; i < 3; ++i) threads_.start();
  store(0, 1);
  release(0, 0);
  acquire(1, 0);
  history_.remove_invisible(threads_);
  EXPECT_EQ(entries(), (Values{0, 1}));
  acquire(2, 0);
  history_.remove_invisible(threads_);
  EXPECT_EQ(entries(), Values{1});
}

TEST_F(StoreHistoryTest, Gc1ConsidersThreadsToCome) {
  threads_.start();
  threads_.start();
  store(0, 1);
  u32 created = threads_.fork(1);  // by one that does not know the store
  history_.remove_invisible(threads_);
  EXPECT_EQ(visible(created), (Values{0, 1}));
}

TEST_F(StoreHistoryTest, Gc1WithAThreadLeftOutShowsNothingHidden) {
  for (int i = 0; i < 3; ++i) threads_.start();
  store(0, 1);
  release(0, 0);
  acquire(2, 0);  // knows the store of 1, so must not see 0
  store(0, 2);
  release(0, 0);
  acquire(1, 0);
  struct OnlyTwo final : ClockSource {
    explicit OnlyTwo(Threads& t) : all(t) {}
    const VectorClock* next(u32* cursor) override { return *cursor < 2 ? all.next(cursor) : nullptr; }
    Threads& all;
  } without_last(threads_);
  EXPECT_EQ(visible(2), (Values{1, 2}));
  history_.remove_invisible(without_last);
  EXPECT_EQ(visible(2), Values{2});  // lost 1; gained nothing
}

TEST_F(StoreHistoryTest, Gc1WithoutThreadsRemovesNothing) {
  threads_.start();
  threads_.start();
  store(0, 1);
  Threads none(arena_);
  history_.remove_invisible(none);
  EXPECT_EQ(entries(), (Values{0, 1}));
}

TEST_F(StoreHistoryTest, Gc2RemovesTheSameValueOfTheSameTime) {
  threads_.start();
  threads_.start();
  for (int i = 0; i < 1000; ++i) store(0, 7);
  EXPECT_EQ(entries(), (Values{0, 7}));
  EXPECT_EQ(statistics_.gc2, 999u);
  EXPECT_EQ(statistics_.largest, 2u);
  EXPECT_EQ(statistics_.largest_uncompressed, 1001u);
}

TEST_F(StoreHistoryTest, Gc2LooksPastOtherValues) {
  threads_.start();
  threads_.start();
  store(0, 7);
  store(0, 8);
  store(0, 7);
  EXPECT_EQ(entries(), (Values{0, 8, 7}));
  EXPECT_EQ(visible(1), (Values{0, 8, 7}));
  EXPECT_EQ(visible(0), Values{7});
}

TEST_F(StoreHistoryTest, Gc2KeepsTheSameValueOfAnotherTime) {
  threads_.start();
  threads_.start();
  store(0, 7);
  release(0, 0);
  store(0, 7);
  EXPECT_EQ(entries(), (Values{0, 7, 7}));
  EXPECT_EQ(statistics_.gc2, 0u);
}

TEST_F(StoreHistoryTest, RemoveOldestKeeps32) {
  threads_.start();
  threads_.start();
  for (u64 v = 1; v <= 40; ++v) store(0, v);
  EXPECT_EQ(history_.count(), StoreHistory::kMostEntries);
  EXPECT_EQ(statistics_.remove_oldest, 9u);
  EXPECT_EQ(statistics_.largest, 32u);
  EXPECT_EQ(statistics_.largest_uncompressed, 41u);
  EXPECT_EQ(visible(1).front(), 9u);
  EXPECT_EQ(visible(1).size(), 32u);
  EXPECT_EQ(visible(0), Values{40});
}

TEST_F(StoreHistoryTest, Gc1ComesBeforeRemoveOldest) {
  threads_.start();
  threads_.start();
  for (u64 v = 1; v <= 31; ++v) store(0, v);
  release(0, 0);
  acquire(1, 0);
  store(0, 99);
  EXPECT_EQ(statistics_.remove_oldest, 0u);
  EXPECT_EQ(entries(), (Values{31, 99}));
}

TEST_F(StoreHistoryTest, SplitKeepsEntriesAndTheirBytes) {
  threads_.start();
  threads_.start();
  store(0, 0x1111111122222222);
  StoreHistory upper(arena_, statistics_, 0x1004, 4, 0, 0);
  history_.split_into(upper);
  EXPECT_EQ(history_.size(), 4u);
  EXPECT_EQ(entries(), (Values{0, 0x22222222}));
  EXPECT_EQ(static_cast<u64>(upper.entry(1).value), 0x11111111u);
  EXPECT_EQ(upper.visible(threads_[1].clock()), 3u);
  EXPECT_EQ(upper.visible(threads_[0].clock()), 2u);
  EXPECT_EQ(upper.entry(0).until, upper.entry(1).from);
}

TEST_F(StoreHistoryTest, KeepsTheSite) {
  threads_.start();
  EXPECT_EQ(history_.newest().site, SiteId{0});
  store(0, 1);
  EXPECT_EQ(history_.newest().site, SiteId{1});
}

// A slot that an unrelated thread took over (clock/slots.h, more than 4096 detached threads): the new thread
// seems to know all that the old one did. Whoever is hidden that way must stay hidden when [GC1] has been.
TEST_F(StoreHistoryTest, WhatAnEntryHidesIsTransitiveEvenIfClocksAreNot) {
  VectorClock first(arena_), old(arena_), reused(arena_);
  first.set(Slot{2}, 1);
  old.set(Slot{2}, 1);
  old.set(Slot{0}, 5);
  reused.set(Slot{0}, 6);  // and nothing of slot 2
  history_.store({first, Slot{2}}, 1, SiteId{1}, 2, threads_);
  history_.store({old, Slot{0}}, 2, SiteId{1}, 3, threads_);
  history_.store({reused, Slot{0}}, 3, SiteId{1}, 4, threads_);
  ASSERT_EQ(history_.count(), 4u);
  EXPECT_EQ(history_.entry(3).hides, 7u);
}

// The paper's montecarlo: four threads write one value again and again.
TEST_F(StoreHistoryTest, SameValueByFourThreadsStaysSmall) {
  for (int i = 0; i < 4; ++i) threads_.start();
  for (u32 i = 0; i < 40005; ++i) store(i % 4, 1);
  EXPECT_EQ(statistics_.largest, 4u);
  EXPECT_EQ(statistics_.largest_uncompressed, 40006u);
  EXPECT_EQ(statistics_.remove_oldest, 0u);
}

TEST_F(StoreHistoryTest, SixteenBytes) {
  threads_.start();
  u128 wide = u128{0x0123456789abcdef} << 64 | 0xfedcba9876543210;
  StoreHistory history(arena_, statistics_, 0x2000, 16, wide, 1);
  EXPECT_TRUE(history.newest().value == wide);
}

}  // namespace
}  // namespace duress::memory
