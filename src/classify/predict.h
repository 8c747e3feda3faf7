// SPDX-License-Identifier: Apache-2.0
//
// Which loads of an execution shall return values of the future (Prescient Memory, section 4). A profile run
// lists, for each load in order, the values that were stored concurrently after it; a policy picks some of
// them for a second run with the same seed.
#pragma once

#include <vector>

#include "base/types.h"
#include "trail/execution.h"

namespace duress::classify {

enum class Policy : u32 {
  kNone,
  kAll,        // every load that has a candidate
  kSelective,  // not the first k of these, but the next m
  kPerSite,    // likewise, of one site's loads alone
};

const char* policy_name(Policy policy);

using Profile = std::vector<trail::Prediction>;

/// The predictions of one trial. Of several candidates for a load one is drawn from `seed`; k, m and the site
/// follow from the trial's number, so that trials with small numbers try the first loads and single values.
/// At most one prediction for each load, in the order of the profile.
std::vector<trail::Prediction> predict(Policy policy, const Profile& profile, u64 trial, u64 seed);

/// The loads of a profile: index of the first candidate of each.
std::vector<std::size_t> loads_of(const Profile& profile);

}  // namespace duress::classify
