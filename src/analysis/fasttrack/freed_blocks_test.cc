// SPDX-License-Identifier: Apache-2.0
//
// Large blocks that are freed: their shadow is given back, and still every access that does not follow the
// free is found, as a model says that keeps all accesses of a granule.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "analysis/fasttrack/fasttrack_test.h"
#include "base/prng.h"

namespace duress {
namespace {

constexpr uptr kFreedBlock = uptr{1} << ShadowMap::kBlockBits;
constexpr uptr kFreedHeap = 0x7f1234560000, kFreerLock = 0x7f0034000000;
constexpr u32 kFreers = 3;
using FreerClocks = std::array<u32, kFreers>;

/// All accesses since memory was fresh, by granule.
class FreeModel {
 public:
  FreeModel() {
    for (u32 i = 0; i < kFreers; ++i) now_[i][i] = 1;
  }
  void order(u32 from, u32 to) {
    for (u32 i = 0; i < kFreers; ++i) now_[to][i] = std::max(now_[to][i], now_[from][i]);
    ++now_[from][from];
  }
  /// True if one of the granules was accessed without order. Frees are kept with the range.
  bool access(u32 thread, uptr begin, uptr end, bool write) {
    bool raced = false;
    for (const Entry& e : entries_)
      raced |= e.begin < end && begin < e.end && (e.write || write) && e.clock > now_[thread][e.thread];
    entries_.push_back({begin, end, thread, now_[thread][thread], write});
    return raced;
  }
  void forget(uptr begin, uptr end) {
    std::vector<Entry> kept;
    for (const Entry& e : entries_) {
      if (e.begin < begin) kept.push_back({e.begin, std::min(e.end, begin), e.thread, e.clock, e.write});
      if (e.end > end) kept.push_back({std::max(e.begin, end), e.end, e.thread, e.clock, e.write});
    }
    entries_ = std::move(kept);
  }

 private:
  struct Entry {
    uptr begin, end;
    u32 thread, clock;
    bool write;
  };
  std::vector<Entry> entries_;
  std::array<FreerClocks, kFreers> now_ = {};
};

class FreedBlocks : public FastTrackFixture {
 protected:
  FreedBlocks() : FastTrackFixture(kFreers) {}

  bool access(u32 i, uptr address, bool write) {
    return fasttrack_.access(thread(i), address, 8, write, {SiteId{kFirstModuleSite}, StackId{7}});
  }
  bool free(u32 i, uptr begin, uptr end) {
    return fasttrack_.freed(thread(i), begin, end - begin, {SiteId{}, StackId{9}});
  }
  bool sweep(u32 i, uptr begin, uptr end, bool write) {
    return fasttrack_.access(thread(i), begin, end - begin, write, {SiteId{kFirstModuleSite}, StackId{8}});
  }
  /// What `from` has done happens before what `to` does next.
  void order(u32 from, u32 to) {
    auto& released = syncs_.get(kFreerLock, 0)->released;
    released.clear(arena_);  // a lock of its own for each pair
    threads_[from]->clock.release_to(released);
    FastTrack::after_sync(thread(from));
    threads_[to]->clock.acquire(released);
    FastTrack::after_sync(thread(to));
  }
  u64 blocks_in_use() { return shadow_.touched_blocks(); }
};

TEST_F(FreedBlocks, OfMemoryThatNobodyTouchedTakeNoShadow) {
  EXPECT_FALSE(free(0, kFreedHeap, kFreedHeap + 100 * kFreedBlock));
  EXPECT_EQ(blocks_in_use(), 0u);
  EXPECT_TRUE(access(1, kFreedHeap + 50 * kFreedBlock + 800, /*write=*/false));
  ASSERT_EQ(races_.size(), 1u);
  EXPECT_EQ(races_[0].earlier.place.site, kFreeSite);
  EXPECT_EQ(blocks_in_use(), 1u);
  order(0, 2);
  EXPECT_FALSE(access(2, kFreedHeap + 51 * kFreedBlock, /*write=*/true));
}

TEST_F(FreedBlocks, AReadThatFollowsKeepsTheFreeForOthers) {
  EXPECT_FALSE(free(0, kFreedHeap, kFreedHeap + kFreedBlock));
  order(0, 1);
  EXPECT_FALSE(access(1, kFreedHeap + 64, /*write=*/false));
  EXPECT_TRUE(access(2, kFreedHeap + 64, /*write=*/false));
  EXPECT_TRUE(access(2, kFreedHeap + 72, /*write=*/false)) << "the same line of shadow";
}

TEST_F(FreedBlocks, GiveTheirShadowBack) {
  for (uptr at = kFreedHeap; at < kFreedHeap + 40 * kFreedBlock; at += 8)
    EXPECT_FALSE(access(0, at, /*write=*/true));
  EXPECT_EQ(blocks_in_use(), 40u);
  order(0, 1);
  EXPECT_FALSE(free(1, kFreedHeap + 16, kFreedHeap + 40 * kFreedBlock - 16));
  EXPECT_EQ(blocks_in_use(), 2u) << "the first and the last are freed in part";
  EXPECT_EQ(shadow_.cell(kFreedHeap + 7 * kFreedBlock)->writes(), 0u);
  EXPECT_TRUE(access(2, kFreedHeap + 7 * kFreedBlock, /*write=*/true));
  EXPECT_EQ(races_.back().earlier.place.site, kFreeSite);
}

TEST_F(FreedBlocks, OfWhichAPartIsUsedAnew) {
  EXPECT_FALSE(free(0, kFreedHeap, kFreedHeap + 3 * kFreedBlock));
  fasttrack_.forget(thread(1), kFreedHeap + kFreedBlock + 4096, kFreedHeap + kFreedBlock + 8192);
  fasttrack_.allocated(thread(1), kFreedHeap + 2 * kFreedBlock, kFreedHeap + 3 * kFreedBlock, kFreedBlock,
                       StackId{3});
  EXPECT_FALSE(access(1, kFreedHeap + kFreedBlock + 4096, /*write=*/true));
  EXPECT_FALSE(access(1, kFreedHeap + kFreedBlock + 8184, /*write=*/true));
  EXPECT_TRUE(access(1, kFreedHeap + kFreedBlock + 4088, /*write=*/false));
  EXPECT_TRUE(access(1, kFreedHeap + kFreedBlock + 8192, /*write=*/false));
  EXPECT_TRUE(access(1, kFreedHeap + kFreedBlock - 8, /*write=*/false));
  EXPECT_FALSE(access(1, kFreedHeap + 2 * kFreedBlock + 4096, /*write=*/true));
  EXPECT_TRUE(access(2, kFreedHeap + 2 * kFreedBlock, /*write=*/false));
  EXPECT_EQ(races_.back().earlier.place.site, kAllocationSite);
}

TEST_F(FreedBlocks, WithAtomicsKeepTheirMarks) {
  fasttrack_.mark_sync(thread(0), kFreedHeap + 4096);
  EXPECT_FALSE(free(0, kFreedHeap, kFreedHeap + 2 * kFreedBlock));
  EXPECT_EQ(blocks_in_use(), 1u);
  fasttrack_.mark_sync(thread(0), kFreedHeap + kFreedBlock + 4096);
  EXPECT_TRUE(access(1, kFreedHeap + kFreedBlock + 4096, /*write=*/false)) << "a mark does not hide the free";
}

TEST_F(FreedBlocks, SoDoesMemoryThatIsFilledAtOnce) {
  EXPECT_FALSE(sweep(0, kFreedHeap, kFreedHeap + 10 * kFreedBlock, /*write=*/true));
  EXPECT_EQ(blocks_in_use(), 0u);
  EXPECT_FALSE(sweep(0, kFreedHeap, kFreedHeap + 10 * kFreedBlock, /*write=*/true));
  EXPECT_TRUE(sweep(1, kFreedHeap + 5 * kFreedBlock, kFreedHeap + 5 * kFreedBlock + 64, /*write=*/false));
  order(0, 1);
  EXPECT_FALSE(sweep(1, kFreedHeap + 6 * kFreedBlock, kFreedHeap + 8 * kFreedBlock, /*write=*/true));
  EXPECT_EQ(blocks_in_use(), 1u);
  EXPECT_TRUE(access(0, kFreedHeap + 7 * kFreedBlock, /*write=*/false));
}

TEST_F(FreedBlocks, OutliveCollectionsUntilAllThreadsFollow) {
  fasttrack_.set_chunk_budget(8);
  auto collect = [&](u32 i) {
    u64 before = fasttrack_.collections();
    for (u32 step = 0; fasttrack_.collections() == before; ++step) {
      Place place{SiteId{kFirstModuleSite + 1}, StackId{step}};
      fasttrack_.access(thread(i), kFreedHeap + (100 + i) * kFreedBlock, 8, true, place);
      order(i, i);
    }
  };
  EXPECT_FALSE(free(0, kFreedHeap, kFreedHeap + 2 * kFreedBlock));
  order(0, 1);
  for (int times = 0; times < 3; ++times) collect(0), collect(1);
  EXPECT_NE(shadow_.block_write(kFreedHeap), 0u);
  EXPECT_FALSE(access(1, kFreedHeap + 8, /*write=*/false));
  EXPECT_TRUE(access(2, kFreedHeap + 80, /*write=*/false));
  ASSERT_EQ(races_.size(), 1u);
  EXPECT_EQ(races_[0].earlier.place.site, kFreeSite);
  EXPECT_EQ(raw(races_[0].earlier.place.stack), 9u);
  EXPECT_EQ(raw(races_[0].earlier.slot), 0u);
  order(0, 2);
  collect(2);
  EXPECT_EQ(shadow_.block_write(kFreedHeap + kFreedBlock), 0u);
}

TEST_F(FreedBlocks, AgreeWithTheModel) {
  fasttrack_.set_chunk_budget(8);  // with collections
  for (u64 seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Prng prng(seed);
    FreeModel model;
    u32 races = 0;
    const uptr heap = kFreedHeap + seed * 64 * kFreedBlock;
    auto position = [&] {
      uptr block = heap + kFreedBlock * prng.below(5);
      const uptr within[] = {0, 8, 24, 32, 4096, kFreedBlock / 2, kFreedBlock - 16, kFreedBlock - 8};
      return block + within[prng.below(8)];
    };
    auto anew = [&](u32 i, uptr begin, uptr end) {
      fasttrack_.forget(thread(i), begin, end);
      model.forget(begin, end);
      // Nobody has an access of its present epoch there.
      for (u32 j = 0; j < kFreers; ++j) order(j, i), model.order(j, i);
    };
    for (u32 from = 0; from < kFreers; ++from)
      for (u32 to = 0; to < kFreers; ++to)
        if (from != to) order(from, to), order(to, from), model.order(from, to), model.order(to, from);
    for (u32 step = 0; step < 600; ++step) {
      u32 i = static_cast<u32>(prng.below(kFreers)), j = (i + 1) % kFreers;
      for (u32 places = 0; places < 8; ++places) {  // for collections
        Place other{SiteId{kFirstModuleSite + 1 + places}, StackId{8 * step + places}};
        fasttrack_.access(thread(i), kFreedHeap - 1024 * (i + 1) + 8 * places, 8, true, other);
      }
      uptr begin = position(), end = begin + 8;
      bool write = prng.chance(1, 2), raced, expected;
      if (prng.chance(1, 3)) {
        order(i, j), model.order(i, j);
        continue;
      }
      if (prng.chance(1, 20)) {
        anew(i, begin, begin + 8 * prng.below(2 * kFreedBlock / 8));
        continue;
      }
      if (prng.chance(1, 5)) {
        end = std::max(begin, position()) + 8;
        write |= prng.chance(1, 2);
        raced = write && prng.chance(1, 2) ? free(i, begin, end) : sweep(i, begin, end, write);
        expected = model.access(i, begin, end, write);
      } else {
        raced = access(i, begin, write), expected = model.access(i, begin, end, write);
      }
      ASSERT_EQ(raced, expected) << "step " << step << " thread " << i << " at " << begin - heap << " size "
                                 << end - begin;
      if (raced) anew(i, begin, end);  // only the first race of a location is exact
      races += raced;
    }
    EXPECT_GT(races, 20u);
    fasttrack_.forget(thread(0), heap, heap + 8 * kFreedBlock);
  }
  EXPECT_GT(fasttrack_.collections(), 10u);
}

}  // namespace
}  // namespace duress
