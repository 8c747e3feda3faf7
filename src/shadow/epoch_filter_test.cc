// SPDX-License-Identifier: Apache-2.0
#include "shadow/epoch_filter.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace duress {
namespace {

class EpochFilterTest : public testing::Test {
 protected:
  EpochFilterTest() {
    filter_.new_epoch();
    filter_.open(self_);
  }
  ~EpochFilterTest() override { filter_.release(); }

  bool contains(uptr begin, uptr end, bool write) {
    return EpochFilter::skip(self_, begin, end, write) == end;
  }

  EpochFilter filter_;
  DuressSelf self_ = {};
};

TEST_F(EpochFilterTest, ContainsWhatWasAddedInThisEpoch) {
  EpochFilter::add<false>(self_, 0x1004, 0x30);  // two bytes
  EXPECT_TRUE(EpochFilter::contains<false>(self_, 0x1004, 0x30));
  EXPECT_FALSE(EpochFilter::contains<false>(self_, 0x1004, 0x70));
  EXPECT_FALSE(EpochFilter::contains<true>(self_, 0x1004, 0x10));
  EXPECT_FALSE(EpochFilter::contains<false>(self_, 0x100c, 0x10));
  EpochFilter::close(self_);
  filter_.open(self_);  // the same epoch goes on
  EXPECT_TRUE(EpochFilter::contains<false>(self_, 0x1004, 0x30));
  filter_.new_epoch();
  filter_.open(self_);
  EXPECT_FALSE(EpochFilter::contains<false>(self_, 0x1004, 0x30));
}

TEST_F(EpochFilterTest, AWriteIsARead) {
  EpochFilter::add<true>(self_, 0x2000, 0xff);
  EXPECT_TRUE(EpochFilter::contains<false>(self_, 0x2000, 0xff));
  EXPECT_TRUE(EpochFilter::contains<true>(self_, 0x2000, 0xff));
}

TEST_F(EpochFilterTest, EpochsOfOldDoNotComeBack) {
  EpochFilter::add<true>(self_, 0x2000, 0xff);
  for (int i = 0; i < 70000; ++i) {  // more than there are tags
    filter_.new_epoch();
    filter_.open(self_);
    ASSERT_FALSE(EpochFilter::contains<true>(self_, 0x2000, 0xff)) << i;
  }
}

TEST(KeptFilterTest, TheNextThreadFindsNothingOfTheOneBefore) {
  EpochFilter::keep_tables(1);
  const DuressFilterEntry* table = nullptr;
  for (int thread = 0; thread < 70000; ++thread) {  // more than there are tags
    EpochFilter filter;
    DuressSelf self = {};
    filter.new_epoch();
    filter.open(self);
    if (!table) table = self.filter;
    ASSERT_EQ(table, self.filter) << thread;
    ASSERT_FALSE(EpochFilter::contains<true>(self, 0x2000, 0xff)) << thread;
    EpochFilter::add<true>(self, 0x2000, 0xff);
    ASSERT_TRUE(EpochFilter::contains<true>(self, 0x2000, 0xff)) << thread;
    filter.release();
  }
  EpochFilter two, other;
  DuressSelf first = {}, second = {};
  two.open(first);
  other.open(second);
  EXPECT_EQ(table, first.filter);
  EXPECT_NE(table, second.filter);
  two.release();
  other.release();
  EpochFilter::keep_tables(0);
}

TEST_F(EpochFilterTest, GrowsWhereAccessesGetLost) {
  EXPECT_FALSE(filter_.lost(EpochFilter::kFewest));
  EXPECT_TRUE(filter_.lost(1));
  u64 before = filter_.bytes();
  u64 growth = filter_.growth();
  filter_.grow(self_);
  EXPECT_EQ(filter_.bytes(), before + growth);
  EXPECT_FALSE(filter_.lost(1));
  EpochFilter::add<true>(self_, 0x2000, 0xff);
  EXPECT_TRUE(EpochFilter::contains<true>(self_, 0x2000, 0xff));
}

/// Whatever it contains was accessed in this epoch and not removed since: it may forget, but not invent.
TEST_F(EpochFilterTest, NothingIsInvented) {
  std::mt19937 random(1);
  std::set<uptr> known[2];  // read, written
  auto number = [&](u32 below) { return random() % below; };
  u64 found = 0;
  for (int step = 0; step < 200000; ++step) {
    // Two areas that meet in the entries of the filter.
    uptr begin = 0x7000'0000 + number(2) * EpochFilter::kFewest * EpochFilter::kBlockBytes + number(1200);
    uptr end = begin + 1 + number(number(8) ? 16 : 700);
    bool write = number(2) != 0;
    auto each = [&](auto action) {
      for (uptr at = begin; at < end; ++at) action(at);
    };
    switch (number(8)) {
      case 0:
      case 1:
        filter_.add_range(self_, begin, end, write);
        each([&](uptr at) {
          known[0].insert(at);
          if (write) known[1].insert(at);
        });
        ASSERT_TRUE(contains(begin, end, write));
        break;
      case 2: {
        u8 mask = static_cast<u8>(1 << (begin & 7));
        write ? EpochFilter::add<true>(self_, begin, mask) : EpochFilter::add<false>(self_, begin, mask);
        known[0].insert(begin);
        if (write) known[1].insert(begin);
        ASSERT_TRUE(contains(begin, begin + 1, write));
        break;
      }
      case 3:
        filter_.remove(self_, begin, end);
        each([&](uptr at) { known[0].erase(at), known[1].erase(at); });
        break;
      case 4:
        if (number(20)) break;
        filter_.new_epoch();
        filter_.open(self_);
        known[0].clear();
        known[1].clear();
        break;
      default:
        if (!contains(begin, end, write)) break;
        ++found;
        each([&](uptr at) { ASSERT_TRUE(known[write].count(at)) << step; });
        u8 mask = static_cast<u8>(1 << (begin & 7));
        ASSERT_TRUE(write ? EpochFilter::contains<true>(self_, begin, mask)
                          : EpochFilter::contains<false>(self_, begin, mask));
    }
  }
  EXPECT_GT(found, 1000u);
}

}  // namespace
}  // namespace duress
