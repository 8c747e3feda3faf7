// SPDX-License-Identifier: Apache-2.0
#include "memory/location_table.h"

#include <gtest/gtest.h>

#include "memory/testing/world.h"

namespace duress::memory {
namespace {

using testing::World;
using Values = std::vector<u64>;

/// Two threads that never synchronise.
struct TwoThreads : World {
  explicit TwoThreads(u32 tear = 8) : World({.table = {.tear = tear}}) {
    threads.start();
    threads.start();
  }
  u32 count(u32 offset) {
    const StoreHistory* history = model.table().location(kBase + offset);
    return history ? history->count() : 0;
  }
  u32 size(u32 offset) {
    const StoreHistory* history = model.table().location(kBase + offset);
    return history ? history->size() : 0;
  }
};

TEST(LocationTableTest, FirstAccessMakesTheInitialEntry) {
  TwoThreads w;
  w.unseen_write(0, 8, 77);  // before anything is tracked
  w.store(0, 0, 8, 1);
  EXPECT_EQ(w.legal(1, 0, 8), (Values{1, 77}));
  EXPECT_EQ(w.legal(0, 0, 8), Values{1});
  EXPECT_EQ(w.model.statistics().instances, 1u);
  EXPECT_EQ(w.model.statistics().writes, 1u);
  EXPECT_EQ(w.model.statistics().unseen, 0u);
}

TEST(LocationTableTest, SmallerLoadReadsAPartOfEachStore) {
  TwoThreads w;
  w.store(0, 0, 8, 0x2222222211111111);
  w.store(0, 0, 8, 0x4444444433333333);
  EXPECT_EQ(w.legal(1, 4, 4), (Values{0x44444444, 0x22222222, 0}));
  EXPECT_EQ(w.legal(1, 3, 2), (Values{0x4433, 0x2211, 0}));
  EXPECT_EQ(w.size(0), 8u);
}

TEST(LocationTableTest, SmallerStoreSplits) {
  TwoThreads w;
  w.store(0, 0, 8, 0x2222222211111111);
  w.store(0, 0, 4, 0x33333333);
  EXPECT_EQ(w.size(0), 4u);
  EXPECT_EQ(w.size(4), 4u);
  EXPECT_EQ(w.count(0), 3u);
  EXPECT_EQ(w.count(4), 2u);
  EXPECT_EQ(w.legal(1, 0, 4), (Values{0x33333333, 0x11111111, 0}));
  EXPECT_EQ(w.legal(1, 4, 4), (Values{0x22222222, 0}));
  EXPECT_EQ(w.model.statistics().splits, 1u);
}

TEST(LocationTableTest, StoreInTheMiddleSplitsTwice) {
  TwoThreads w;
  w.store(0, 0, 8, 0x1111111111111111);
  w.store(0, 2, 3, 0x222222);
  EXPECT_EQ(w.size(0), 2u);
  EXPECT_EQ(w.size(2), 3u);
  EXPECT_EQ(w.size(5), 3u);
  EXPECT_EQ(w.legal(1, 2, 3), (Values{0x222222, 0x111111, 0}));
}

TEST(LocationTableTest, LoadOfSeveralLocationsSeesOneMoment) {
  TwoThreads w;
  w.store(0, 0, 4, 1);
  w.store(0, 4, 4, 2);
  w.store(0, 0, 4, 3);
  // As they were together; never 0 in the lower half with 2 in the upper. The time before the upper half
  // was tracked is not known.
  EXPECT_EQ(w.legal(1, 0, 8), (Values{0x0000000200000003, 0x0000000200000001, 0x0000000000000001}));
}

TEST(LocationTableTest, WideStoreOverSmallLocationsDoesNotTear) {
  TwoThreads w;
  w.store(0, 0, 4, 0);
  w.store(0, 4, 4, 0);
  w.store(0, 0, 8, 0x1111111111111111);
  w.store(0, 0, 8, 0x2222222222222222);
  EXPECT_EQ(w.size(0), 4u);
  EXPECT_EQ(w.legal(1, 0, 8), (Values{0x2222222222222222, 0x1111111111111111, 0}));
}

TEST(LocationTableTest, BytesThatAreNotTrackedStayNew) {
  TwoThreads w;
  w.store(0, 0, 4, 1);
  HeuristicPicker oldest(HeuristicId::kOldest, w.chooser);
  u64 value = 0;
  w.load_bytes(1, 0, 8, reinterpret_cast<u8*>(&value), oldest, Tracking::kOnlyTracked);
  EXPECT_EQ(value, 1u);
  EXPECT_EQ(w.size(4), 0u);
}

TEST(LocationTableTest, RangeWritesReachEveryLocation) {
  TwoThreads w;
  w.store(0, 0, 8, 1);
  w.store(0, 20, 4, 2);
  w.store(0, 30, 2, 3);
  w.fill(0, 4, 27, 0xaa);  // half of the first, all of the second, half of the third
  EXPECT_EQ(w.legal(1, 4, 4), (Values{0xaaaaaaaa, 0}));
  EXPECT_EQ(w.legal(1, 0, 4), (Values{1, 0}));
  EXPECT_EQ(w.legal(1, 20, 4), (Values{0xaaaaaaaa, 2, 0}));
  EXPECT_EQ(w.legal(1, 30, 1), (Values{0xaa, 3, 0}));
  EXPECT_EQ(w.size(12), 0u);  // a range write begins nothing
}

TEST(LocationTableTest, RangeWriteOverMoreWordsThanThereAre) {
  TwoThreads w;
  w.store(0, 16, 8, 1);
  for (u32 offset = 0; offset < 64; offset += 8) EXPECT_EQ(w.count(offset), offset == 16 ? 2u : 0u);
  w.fill(1, 0, 64, 0);
  EXPECT_EQ(w.legal(0, 16, 8), (Values{0, 1}));
}

TEST(LocationTableTest, UnseenWriteDropsTheHistory) {
  TwoThreads w;
  w.store(0, 0, 8, 1);
  w.store(0, 0, 8, 2);
  w.unseen_write(0, 8, 9);
  EXPECT_EQ(w.legal(1, 0, 8), Values{9});
  EXPECT_EQ(w.model.statistics().unseen, 1u);
  EXPECT_EQ(w.model.statistics().instances, 1u);
  w.store(0, 0, 8, 3);
  EXPECT_EQ(w.legal(1, 0, 8), (Values{3, 9}));
}

TEST(LocationTableTest, UnseenWriteFoundByAStore) {
  TwoThreads w;
  w.store(0, 0, 8, 1);
  w.unseen_write(0, 8, 9);
  w.store(0, 0, 8, 2);
  EXPECT_EQ(w.legal(1, 0, 8), (Values{2, 9}));
}

TEST(LocationTableTest, FreeDrops) {
  TwoThreads w;
  w.store(0, 0, 8, 1);
  w.store(0, 8, 8, 2);
  w.forget(0, 8);
  EXPECT_EQ(w.count(0), 0u);
  EXPECT_EQ(w.count(8), 2u);
  EXPECT_EQ(w.model.table().words(), 1u);
  EXPECT_EQ(w.legal(1, 0, 8), Values{1});  // what memory holds is now the initial value
}

TEST(LocationTableTest, ManyWordsAreFoundAgain) {
  World w;
  w.threads.start();
  LocationTable table(w.arena, w.threads, {.tear = 8, .most_words = 1000});
  u8 zero[8] = {};
  for (uptr i = 0; i < 1200; ++i) {
    table.store(w.threads.viewer(0), {i * 64, i * 64 + 8}, Tracking::kBegin, SiteId{1}, zero,
                Source::repeat(static_cast<u8>(i)));
  }
  EXPECT_EQ(table.words(), 1000u);
  EXPECT_EQ(table.statistics().not_tracked, 200u);
  for (uptr i = 0; i < 1000; ++i) {
    ASSERT_NE(table.location(i * 64), nullptr);
    EXPECT_EQ(static_cast<u8>(table.location(i * 64 + 7)->newest().value), static_cast<u8>(i));
  }
  table.forget({0, 500 * 64});
  EXPECT_EQ(table.words(), 500u);
  EXPECT_EQ(table.location(0), nullptr);
  table.forget({0, 1200 * 64});
  EXPECT_EQ(table.words(), 0u);
}

}  // namespace
}  // namespace duress::memory
