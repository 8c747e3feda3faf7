// SPDX-License-Identifier: Apache-2.0
#include "runtime/element_sample.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "base/prng.h"
#include "runtime/access_filter.h"

namespace duress {
namespace {

constexpr u32 kVariable = 7;

/// Addresses of elements in the order in which they are touched: some rows of a matrix, not from its
/// beginning.
std::vector<uptr> touches(uptr array, u64 seed) {
  Prng prng(seed);
  std::vector<uptr> result;
  for (u64 row = 0; row < 60; ++row) {
    u64 begin = prng.below(3000) * 1000;
    for (u64 i = 0; i < 500; ++i) result.push_back(array + (begin + i) * 8);
  }
  return result;
}

TEST(ElementSample, TakesTheFirstAndAFewOfTheRest) {
  auto sample = std::make_unique<ElementSample>();
  std::set<uptr> all, taken;
  for (uptr address : touches(0x7f0000001000, 1)) {
    all.insert(address);
    if (sample->ask(kVariable, address).taken) taken.insert(address);
    if (all.size() <= ElementSample::kFirst) EXPECT_EQ(taken.size(), all.size());
  }
  EXPECT_GT(taken.size(), ElementSample::kFirst + 32);
  EXPECT_LT(taken.size(), all.size() / 64);
}

TEST(ElementSample, TakesOneInManyNearTheFirstAndFewerFarAway) {
  auto taken = [](u64 from, u64 to) {
    constexpr uptr kBase = 0x7f0000001000;
    u64 count = 0;
    for (u64 word = from; word < to; ++word) {
      count += ElementSample::in_sample(kBase + word * 8, kBase);
      EXPECT_EQ(ElementSample::in_pattern(kBase + word * 8, kBase),
                ElementSample::in_pattern(kBase + (word + ElementSample::kPeriod) * 8, kBase));
    }
    return count;
  };
  constexpr u64 kPeriod = ElementSample::kPeriod;
  EXPECT_EQ(taken(0, kPeriod), kPeriod / ElementSample::kOneIn);
  EXPECT_EQ(taken(0, 64 * kPeriod), 4 * kPeriod / ElementSample::kOneIn);
  EXPECT_EQ(taken(~kPeriod + 1, ~u64{0}), kPeriod / ElementSample::kOneIn) << "before the first one";
}

TEST(ElementSample, OnceTakenAlwaysTaken) {
  for (u64 seed = 1; seed <= 20; ++seed) {
    auto sample = std::make_unique<ElementSample>();
    std::set<uptr> taken, left;
    for (int round = 0; round < 2; ++round) {
      for (uptr address : touches(0x7f0000001000, seed)) {
        bool takes = sample->ask(kVariable, address).taken;
        (takes ? taken : left).insert(address);
        EXPECT_FALSE(takes ? left.count(address) : taken.count(address));
      }
    }
  }
}

TEST(ElementSample, IsTheSameWhereverTheArrayIs) {
  for (u64 seed = 1; seed <= 20; ++seed) {
    auto here = std::make_unique<ElementSample>(), there = std::make_unique<ElementSample>();
    std::vector<uptr> a = touches(0x7f0000001000, seed), b = touches(0x5555e0003ab8, seed);
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(here->ask(kVariable, a[i]).taken, there->ask(kVariable, b[i]).taken) << seed << " " << i;
  }
}

TEST(ElementSample, VariablesDoNotTakeEachOthersPlaces) {
  auto sample = std::make_unique<ElementSample>();
  for (uptr address : touches(0x7f0000001000, 1)) sample->ask(kVariable, address);
  for (u64 i = 0; i < ElementSample::kFirst; ++i) EXPECT_TRUE(sample->ask(8, 0x10000 + i * 8).taken);
}

TEST(AccessFilter, IgnoresNothingThatIsTakenOrTracked) {
  auto sample = std::make_unique<ElementSample>();
  auto watched = std::make_unique<AccessFilter::Watched[]>(AccessFilter::kWatchedSize);
  auto filter = std::make_unique<AccessFilter>(watched.get());
  static DuressSite sites[3] = {};
  std::atomic<uptr> kinds[3] = {AccessFilter::kIgnored, AccessFilter::kObserved, AccessFilter::kObserved};
  filter->begin(sites, 2, kinds);
  u64 ignored = 0, unwatched = 0, all = 0;
  for (uptr address : touches(0x7f0000001000, 3)) {
    ElementSample::Answer answer = sample->ask(kVariable, address);
    if (answer.base) {
      kinds[1] = answer.base;
      filter->watch_sample(answer.base);
    }
    // As instrumented code tests it when the site is quiet.
    bool watched_now = watched[address / 8 % AccessFilter::kWatchedSize] != 0;
    EXPECT_FALSE(answer.taken && kinds[1] != AccessFilter::kObserved && !watched_now) << address;
    unwatched += !watched_now;
    if (answer.taken) filter->track(address, address + 8);
    const void* p = reinterpret_cast<const void*>(address);
    bool ignores = filter->ignores(p, 8, &sites[1]);
    EXPECT_FALSE(ignores && answer.taken) << address;
    EXPECT_FALSE(answer.taken && filter->ignores(p, 4, &sites[0])) << address;
    EXPECT_FALSE(filter->ignores(p, 8, &sites[2]));                                     // outside
    EXPECT_FALSE(filter->ignores(reinterpret_cast<const char*>(p) + 5, 8, &sites[0]));  // two words
    ignored += ignores;
    ++all;
  }
  EXPECT_GT(ignored, all * 9 / 10);
  EXPECT_GT(unwatched, all * 9 / 10);
}

TEST(AccessFilter, WordsThatShareAByteInTheCodesTableAreTold) {
  auto watched = std::make_unique<AccessFilter::Watched[]>(AccessFilter::kWatchedSize);
  auto filter = std::make_unique<AccessFilter>(watched.get());
  static DuressSite sites[1] = {};
  std::atomic<uptr> kinds[1] = {AccessFilter::kIgnored};
  filter->begin(sites, 1, kinds);
  u32 ignored = 0;
  for (uptr word = 0; word < 64; ++word) {
    uptr address = 0x7f0000001000 + word * 8;
    filter->track(address, address + 8);
    uptr other = address + 8 * AccessFilter::kWatchedSize;
    ignored += filter->ignores(reinterpret_cast<const void*>(other), 8, sites);
    EXPECT_FALSE(filter->ignores(reinterpret_cast<const void*>(address), 8, sites));
  }
  EXPECT_GT(ignored, 60u);
}

}  // namespace
}  // namespace duress
