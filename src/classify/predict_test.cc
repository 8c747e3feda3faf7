// SPDX-License-Identifier: Apache-2.0
#include "classify/predict.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace duress::classify {
namespace {

trail::Prediction value(u32 strand, u32 site, u32 count, u64 bits) {
  return {strand, site, count, 4, {bits, 0}};
}

/// Five loads: two of site 7 by strand 1 (the first with three candidates), two of site 9, one of site 7.
const Profile kProfile = {value(1, 7, 1, 10), value(1, 7, 1, 11), value(1, 7, 1, 12), value(1, 7, 2, 20),
                          value(2, 9, 1, 30), value(2, 9, 2, 40), value(2, 9, 2, 41), value(2, 7, 1, 50)};

std::set<std::tuple<u32, u32, u32>> loads(const std::vector<trail::Prediction>& predictions) {
  std::set<std::tuple<u32, u32, u32>> set;
  for (const trail::Prediction& p : predictions) set.insert({p.strand, p.site, p.ordinal});
  return set;
}

bool from_profile(const std::vector<trail::Prediction>& predictions) {
  for (const trail::Prediction& p : predictions) {
    if (std::find(kProfile.begin(), kProfile.end(), p) == kProfile.end()) return false;
  }
  return true;
}

TEST(Predict, CandidatesOfOneLoadFollowEachOther) {
  EXPECT_EQ(loads_of(kProfile), (std::vector<std::size_t>{0, 3, 4, 5, 7}));
  EXPECT_TRUE(loads_of({}).empty());
}

TEST(Predict, NothingToPredict) {
  for (Policy policy : {Policy::kAll, Policy::kSelective, Policy::kPerSite})
    EXPECT_TRUE(predict(policy, {}, 3, 1).empty());
  EXPECT_TRUE(predict(Policy::kNone, kProfile, 0, 1).empty());
}

TEST(Predict, AllUsesEachLoadOnceAndDrawsAmongItsCandidates) {
  std::set<u64> first;
  for (u64 seed = 0; seed < 40; ++seed) {
    std::vector<trail::Prediction> chosen = predict(Policy::kAll, kProfile, 0, seed);
    ASSERT_EQ(chosen.size(), 5u);
    EXPECT_EQ(loads(chosen).size(), 5u);
    EXPECT_TRUE(from_profile(chosen));
    first.insert(chosen[0].value[0]);
  }
  EXPECT_EQ(first, (std::set<u64>{10, 11, 12}));
}

TEST(Predict, TheSameSeedGivesTheSame) {
  for (Policy policy : {Policy::kAll, Policy::kSelective, Policy::kPerSite}) {
    for (u64 trial = 0; trial < 10; ++trial)
      EXPECT_EQ(predict(policy, kProfile, trial, 5), predict(policy, kProfile, trial, 5));
  }
}

TEST(Predict, SelectiveTakesEachLoadAloneThenMoreAtOnce) {
  // Even trials: k = 0, 1, 2, ... with m = 1, then m = 2, then m = 4.
  for (u64 k = 0; k < 5; ++k) {
    std::vector<trail::Prediction> chosen = predict(Policy::kSelective, kProfile, 2 * k, 1);
    ASSERT_EQ(chosen.size(), 1u);
    const trail::Prediction& load = kProfile[loads_of(kProfile)[k]];
    EXPECT_EQ(std::tie(chosen[0].strand, chosen[0].site, chosen[0].ordinal),
              std::tie(load.strand, load.site, load.ordinal));
    std::size_t left = 5 - k;
    EXPECT_EQ(predict(Policy::kSelective, kProfile, 10 + 2 * k, 1).size(), std::min<std::size_t>(2, left));
    EXPECT_EQ(predict(Policy::kSelective, kProfile, 20 + 2 * k, 1).size(), std::min<std::size_t>(4, left));
  }
  std::set<std::size_t> sizes;
  for (u64 trial = 1; trial < 60; trial += 2) {
    std::vector<trail::Prediction> chosen = predict(Policy::kSelective, kProfile, trial, trial);
    EXPECT_TRUE(from_profile(chosen));
    sizes.insert(chosen.size());
  }
  EXPECT_TRUE(sizes.count(1) && sizes.count(2) && sizes.count(4));
}

TEST(Predict, PerSiteKeepsToOneSite) {
  std::set<u32> seen;
  std::set<std::tuple<u32, u32, u32>> reached;
  for (u64 trial = 0; trial < 24; ++trial) {
    std::vector<trail::Prediction> chosen = predict(Policy::kPerSite, kProfile, trial, trial);
    ASSERT_FALSE(chosen.empty());
    for (const trail::Prediction& p : chosen) EXPECT_EQ(p.site, chosen[0].site);
    seen.insert(chosen[0].site);
    for (const auto& load : loads(chosen)) reached.insert(load);
  }
  EXPECT_EQ(seen, (std::set<u32>{7, 9}));
  EXPECT_EQ(reached.size(), 5u);
}

}  // namespace
}  // namespace duress::classify
