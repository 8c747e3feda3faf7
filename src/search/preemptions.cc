// SPDX-License-Identifier: Apache-2.0
#include "search/preemptions.h"

#include <map>
#include <vector>

namespace duress::search {

using exhaustive::Step;

namespace {

constexpr std::size_t kMostStates = 20000;

bool may_be_waiting(const Step& step) {
  return exhaustive::may_wait(step.kind) || step.is(Step::kAwaits);
}

}  // namespace

u32 least_preemptions(const Step* const* steps, u32 count) {
  // By strand: its steps; and for each step, how many steps of each other strand must come before it.
  std::vector<std::vector<u32>> strands;
  std::map<u8, std::size_t> index;
  std::vector<std::size_t> strand_of(count), ordinal(count);
  for (u32 i = 0; i < count; ++i) {
    auto [it, fresh] = index.try_emplace(steps[i]->strand, strands.size());
    if (fresh) strands.emplace_back();
    strand_of[i] = it->second;
    ordinal[i] = strands[it->second].size();
    strands[it->second].push_back(i);
  }
  std::size_t width = strands.size();
  std::vector<std::vector<u16>> needs(count, std::vector<u16>(width, 0));
  for (u32 i = 0; i < count; ++i) {
    for (u32 k = 0; k < i; ++k) {
      if (strand_of[k] != strand_of[i] && exhaustive::conflict(*steps[k], *steps[i]))
        needs[i][strand_of[k]] = static_cast<u16>(ordinal[k] + 1);
    }
  }
  // Level by level: all states that can be reached with that many preemptions.
  using State = std::vector<u16>;  // steps done of each strand, and who went last
  std::map<State, bool> seen;
  std::vector<State> level;
  for (std::size_t s = 0; s < width; ++s) {
    State state(width + 1, 0);
    state[width] = static_cast<u16>(s);
    level.push_back(std::move(state));
  }
  for (u32 preemptions = 0;; ++preemptions) {
    std::vector<State> next;
    while (!level.empty()) {
      State state = std::move(level.back());
      level.pop_back();
      if (!seen.try_emplace(state, true).second) continue;
      if (seen.size() > kMostStates) return 0;
      u32 done = 0;
      for (std::size_t s = 0; s < width; ++s) done += state[s];
      if (done == count) return preemptions;
      std::size_t last = state[width];
      bool could_go_on = state[last] > 0 && state[last] < strands[last].size() &&
                         !may_be_waiting(*steps[strands[last][state[last]]]);
      for (std::size_t s = 0; s < width; ++s) {
        if (state[s] == strands[s].size()) continue;
        const std::vector<u16>& need = needs[strands[s][state[s]]];
        bool ready = true;
        for (std::size_t o = 0; o < width; ++o) ready = ready && state[o] >= need[o];
        if (!ready) continue;
        State after = state;
        ++after[s];
        after[width] = static_cast<u16>(s);
        (s != last && could_go_on ? next : level).push_back(std::move(after));
      }
    }
    if (next.empty()) return 0;  // not reached: the steps are in a possible order
    level = std::move(next);
  }
}

}  // namespace duress::search
