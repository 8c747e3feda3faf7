// SPDX-License-Identifier: Apache-2.0
//
// Allocating is a write to the first bytes of a block, as long as nobody has written there.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "analysis/fasttrack/fasttrack_test.h"
#include "base/prng.h"

namespace duress {
namespace {

constexpr uptr kHeap = 0x7f1234560000, kLock = 0x7f1234000000;
constexpr u64 kMarked = 64;  // the bytes that count as written

class Allocations : public FastTrackFixture {
 protected:
  Allocations() : FastTrackFixture(3) {}

  bool access(u32 i, uptr address, bool write) {
    return fasttrack_.access(thread(i), address, 4, write, {SiteId{kFirstModuleSite}, StackId{7}});
  }
  void allocate(u32 i, u64 size, u32 stack, uptr at = kHeap) {
    fasttrack_.allocated(thread(i), at, at + ((size + 23) & ~u64{15}) - 8, size, StackId{stack});
  }
  /// What `from` has done happens before what `to` does next.
  void order(u32 from, u32 to) {
    auto& released = syncs_.get(kLock, 0)->released;
    threads_[from]->clock.release_to(released);
    FastTrack::after_sync(thread(from));
    threads_[to]->clock.acquire(released);
    FastTrack::after_sync(thread(to));
  }
};

TEST_F(Allocations, AreFoundByThreadsThatDoNotFollowThem) {
  fasttrack_.set_chunk_budget(4);  // with collections
  Prng prng(3);
  for (u32 round = 1; round < 20000; ++round) {
    u32 owner = static_cast<u32>(prng.below(3)), user = static_cast<u32>(prng.below(3));
    u64 size = 4 + 4 * prng.below(200), offset = 4 * prng.below(size / 4);
    bool ordered = prng.chance(1, 2);
    // None that the user has accessed in its epoch, which a program could not have got again either.
    uptr block = kHeap + 1024 * (round % 32);
    if (round % 32 == 0) {
      for (u32 i : {0, 1, 2, 0, 1}) order(i, (i + 1) % 3);
    }
    allocate(owner, size, round, block);
    if (ordered) order(owner, user);
    races_.clear();
    bool raced = access(user, block + offset, prng.chance(1, 2));
    ASSERT_EQ(raced, owner != user && !ordered && offset < kMarked) << round;
    ASSERT_EQ(races_.size(), raced ? 1u : 0u) << round;
    if (raced) {
      EXPECT_EQ(races_[0].earlier.place.site, kAllocationSite);
      EXPECT_EQ(raw(races_[0].earlier.place.stack), round);
      EXPECT_EQ(raw(races_[0].earlier.slot), owner);
    }
  }
  EXPECT_GT(fasttrack_.collections(), 10u);
}

TEST_F(Allocations, AWriteOfTheSameEpochIsNamedInstead) {
  allocate(0, 16, 1);
  EXPECT_FALSE(access(0, kHeap + 4, /*write=*/true));
  EXPECT_TRUE(access(1, kHeap + 4, /*write=*/true));
  ASSERT_EQ(races_.size(), 1u);
  EXPECT_EQ(raw(races_[0].earlier.place.site), kFirstModuleSite);
  EXPECT_TRUE(access(1, kHeap, /*write=*/false));
  EXPECT_EQ(races_.back().earlier.place.site, kAllocationSite);
}

TEST_F(Allocations, ForgetWhatWasThere) {
  EXPECT_FALSE(access(1, kHeap + 100, /*write=*/true));
  EXPECT_FALSE(access(1, kHeap + 1000, /*write=*/true));
  allocate(0, 2000, 1);
  EXPECT_FALSE(access(0, kHeap + 100, /*write=*/true));
  EXPECT_FALSE(access(0, kHeap + 1000, /*write=*/true));
}

TEST_F(Allocations, OfMoreThanABlockOfShadow) {
  EXPECT_FALSE(access(1, kHeap + 70000, /*write=*/true));
  allocate(0, 200000, 1);
  EXPECT_FALSE(access(2, kHeap + 70000, /*write=*/true));
  EXPECT_TRUE(access(2, kHeap + 8, /*write=*/false));
}

}  // namespace
}  // namespace duress
