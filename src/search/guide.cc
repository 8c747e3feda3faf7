// SPDX-License-Identifier: Apache-2.0
#include "search/guide.h"

#include <algorithm>
#include <bit>
#include <map>

#include "base/prng.h"

namespace duress::search {

void Guide::reset() {
  nodes_ = {{0, 0, true, false, {}}};
  signatures_.clear();
}

void Guide::restore(std::vector<Node> nodes, std::set<u64> signatures) {
  bool sound = !nodes.empty();
  for (u32 i = 0; i < nodes.size(); ++i)
    sound = sound && nodes[i].parent <= i && (i == 0 || nodes[i].parent < i);
  if (!sound) return reset();
  nodes_ = std::move(nodes);
  signatures_ = std::move(signatures);
}

std::vector<u32> Guide::next(u64 count, u64 seed) const {
  std::map<u32, std::vector<u32>> waiting;  // by cost
  for (u32 i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].done) waiting[nodes_[i].cost].push_back(i);
  }
  Prng prng(seed);
  std::vector<u32> chosen;
  while (chosen.size() < count && !waiting.empty()) {
    auto level = waiting.begin();
    if (chosen.size() % 3 == 2) std::advance(level, static_cast<std::ptrdiff_t>(prng.below(waiting.size())));
    std::vector<u32>& plans = level->second;
    std::vector<u64> candidates;  // positions in `plans`
    if (chosen.size() % 2 == 0) {
      for (u64 i = 0; i < plans.size(); ++i) {
        if (nodes_[plans[i]].promising) candidates.push_back(i);
      }
    }
    u64 at = candidates.empty() ? prng.below(plans.size()) : candidates[prng.below(candidates.size())];
    chosen.push_back(plans[at]);
    plans.erase(plans.begin() + static_cast<std::ptrdiff_t>(at));
    if (plans.empty()) waiting.erase(level);
  }
  return chosen;
}

std::vector<trail::PlannedSwitch> Guide::plan(u32 node) const {
  std::vector<trail::PlannedSwitch> switches;
  for (; node != 0; node = nodes_[node].parent) switches.push_back(nodes_[node].last);
  std::reverse(switches.begin(), switches.end());
  return switches;
}

void Guide::add(u32 parent, const trail::SwitchPoint& point, u32 visit, u64 targets, bool promising) {
  Prng prng(mix(mix(parent) + (u64{point.place} << 32 | point.strand << 8 | visit)));
  while (std::popcount(targets) > static_cast<int>(kMostTargets)) {
    u64 skip = prng.below(static_cast<u64>(std::popcount(targets)));
    u64 rest = targets;
    while (skip-- > 0) rest &= rest - 1;
    targets &= ~(rest & -rest);
  }
  u32 middle = visit != 1 && visit != point.visits ? 1 : 0;
  for (; targets != 0 && !is_full(); targets &= targets - 1) {
    auto to = static_cast<u32>(std::countr_zero(targets));
    nodes_.push_back(
        {parent, nodes_[parent].cost + 1 + middle, promising, false, {point.strand, point.place, visit, to}});
  }
}

void Guide::learn(u32 node, const Observation* observation, bool fresh) {
  if (node >= nodes_.size() || nodes_[node].done) return;
  nodes_[node].done = true;
  if (observation == nullptr || !signatures_.insert(observation->signature).second) return;
  for (const trail::SwitchPoint& point : observation->points) {
    add(node, point, 1, point.first_targets, fresh);
    if (point.visits > 1) add(node, point, point.visits, point.last_targets, fresh);
    if (point.visits > kMostMiddleVisits) continue;
    for (u32 visit = 2; visit < point.visits; ++visit)
      add(node, point, visit, point.first_targets | point.last_targets, fresh);
  }
}

Guide::Untried Guide::untried() const {
  Untried result;
  for (u32 i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].done) continue;
    u64 switches = plan(i).size();
    result.switches = result.plans == 0 ? switches : std::min(result.switches, switches);
    ++result.plans;
  }
  return result;
}

}  // namespace duress::search
