// SPDX-License-Identifier: Apache-2.0
#include "classify/predict.h"

#include <algorithm>

#include "base/prng.h"

namespace duress::classify {
namespace {

using trail::Prediction;

bool same_load(const Prediction& a, const Prediction& b) {
  return a.strand == b.strand && a.site == b.site && a.ordinal == b.ordinal;
}

/// k and m of one trial. Every other trial goes through the loads from the first one on, which is what
/// finds the fault of a short program; the rest draw k, which reaches into long ones.
struct Window {
  u64 skipped, used;
  Window(u64 trial, u64 loads, Prng& random) {
    skipped = trial % 2 == 0 ? trial / 2 % loads : random.below(loads);
    used = u64{1} << trial / 2 / loads % 3;
    if (trial % 2 != 0) used = u64{1} << random.below(3);
  }
};

}  // namespace

const char* policy_name(Policy policy) {
  switch (policy) {
    case Policy::kAll:
      return "All";
    case Policy::kSelective:
      return "Selective";
    case Policy::kPerSite:
      return "PerSite";
    case Policy::kNone:
      break;
  }
  return "";
}

std::vector<std::size_t> loads_of(const Profile& profile) {
  std::vector<std::size_t> loads;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    if (i == 0 || !same_load(profile[i - 1], profile[i])) loads.push_back(i);
  }
  return loads;
}

std::vector<Prediction> predict(Policy policy, const Profile& profile, u64 trial, u64 seed) {
  std::vector<std::size_t> loads = loads_of(profile);
  std::vector<Prediction> chosen;
  if (loads.empty() || policy == Policy::kNone) return chosen;
  Prng random(mix(seed ^ 0xf07e5ee5));
  if (policy == Policy::kPerSite) {
    std::vector<u32> sites;  // in the order of their first loads
    for (std::size_t load : loads) {
      u32 site = profile[load].site;
      if (std::find(sites.begin(), sites.end(), site) == sites.end()) sites.push_back(site);
    }
    u32 wanted = sites[trial % sites.size()];
    trial /= sites.size();
    std::erase_if(loads, [&](std::size_t load) { return profile[load].site != wanted; });
  }
  u64 begin = 0, end = loads.size();
  if (policy != Policy::kAll) {
    Window window(trial, loads.size(), random);
    begin = window.skipped;
    end = std::min<u64>(begin + window.used, loads.size());
  }
  for (u64 i = begin; i < end; ++i) {
    std::size_t first = loads[i], last = first + 1;
    while (last < profile.size() && same_load(profile[first], profile[last])) ++last;
    chosen.push_back(profile[first + random.below(last - first)]);
  }
  return chosen;
}

}  // namespace duress::classify
