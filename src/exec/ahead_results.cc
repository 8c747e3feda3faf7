// SPDX-License-Identifier: Apache-2.0
#include "exec/ahead_results.h"

#include <cstring>
#include <string_view>

namespace duress::exec {
namespace {

/// What plans of one campaign differ in.
u64 hash_of(const Plan& plan) {
  auto hash = [](const void* data, std::size_t bytes) {
    return std::hash<std::string_view>{}({static_cast<const char*>(data), bytes});
  };
  return plan.head.seed ^ hash(plan.picks.data(), plan.picks.size() * sizeof(trail::Pick)) ^
         hash(plan.trail.data(), plan.trail.size() * sizeof(trail::Deviation)) << 1;
}

std::size_t bytes_of(const AheadResults::Result& result) {
  constexpr std::size_t kRest = 4096;
  const Execution& execution = result.execution;
  return kRest + execution.steps.size() * sizeof(exhaustive::Step) +
         execution.trail.size() * sizeof(trail::Deviation) +
         execution.future_values.size() * sizeof(trail::Prediction) +
         execution.atomic_profile.size() * sizeof(trail::AtomicProfileEntry) +
         execution.side_events.size() * sizeof(trail::SideEvent) +
         execution.switch_points.size() * sizeof(trail::SwitchPoint);
}

}  // namespace

bool same_plan(const Plan& a, const Plan& b) {
  static_assert(std::has_unique_object_representations_v<trail::Request>);
  return std::memcmp(&a.head, &b.head, sizeof a.head) == 0 && a.picks == b.picks && a.trail == b.trail &&
         a.sites == b.sites && a.wait_sites == b.wait_sites && a.pairs == b.pairs &&
         a.predictions == b.predictions && a.edits == b.edits && a.planned == b.planned &&
         a.origins == b.origins && a.spins == b.spins;
}

void AheadResults::add(Plan plan, Execution execution, bool skips_known) {
  u64 hash = hash_of(plan);
  Result result{std::move(plan), std::move(execution), skips_known};
  bytes_ += bytes_of(result);
  results_.emplace(hash, std::move(result));
}

std::optional<AheadResults::Result> AheadResults::take(const Plan& plan) {
  std::optional<Result> result;
  if (last_ && same_plan(last_->plan, plan)) {
    result = std::move(last_);
    last_.reset();
    return result;
  }
  if (results_.empty()) return result;
  auto [begin, end] = results_.equal_range(hash_of(plan));
  for (auto it = begin; it != end; ++it) {
    if (!same_plan(it->second.plan, plan)) continue;
    result = std::move(it->second);
    bytes_ -= bytes_of(*result);
    results_.erase(it);
    break;
  }
  return result;
}

bool AheadResults::drop_last() {
  bool was_there = last_.has_value();
  last_.reset();
  return was_there;
}

void AheadResults::clear() {
  results_.clear();
  bytes_ = 0;
}

}  // namespace duress::exec
