// SPDX-License-Identifier: Apache-2.0
//
// No strategy is best for all bugs: racefuzzer needs a race, pct is sure to find shallow ones, places finds
// what many threads hide, turns what needs them to alternate, random and pos the rest. So the search deals
// them out in turn, with fixed shares: bench/search has programs that only one of them finds, and nothing
// that a run shows tells which it is before it has. Races come first, because a site that races must be a
// schedule point before any strategy can preempt there.
#include "search/portfolio.h"

#include <algorithm>
#include <tuple>

#include "base/prng.h"
#include "catalog/heuristics.h"

namespace duress::search {
namespace {

constexpr u64 kFirstRound = 16;
constexpr u64 kLaterDetections = 8;

// The likeliest first, then further ones of the table. One execution in a cycle is sequentially consistent: a
// failure there needs no weak model.
HeuristicId heuristic_in_turn(u64 index) {
  constexpr HeuristicId kFirst[] = {HeuristicId::kRandom, HeuristicId::kOldest,
                                    HeuristicId::kSequentiallyConsistent, HeuristicId::kRandomButDifferent,
                                    HeuristicId::kOldestButDifferent};
  static_assert(raw(*std::max_element(std::begin(kFirst), std::end(kFirst))) + 1 == std::size(kFirst));
  u64 turn = index % kCatalogSize<HeuristicId>;
  return turn < std::size(kFirst) ? kFirst[turn] : static_cast<HeuristicId>(turn);
}

bool before(const trail::SitePair& a, const trail::SitePair& b) {
  return std::tie(a.first, a.second) < std::tie(b.first, b.second);
}

bool equal(const trail::SitePair& a, const trail::SitePair& b) {
  return a.first == b.first && a.second == b.second;
}

}  // namespace

std::vector<u32> SearchState::sites() const {
  std::vector<u32> keys;
  for (const trail::SitePair& pair : pairs) {
    keys.push_back(pair.first);
    keys.push_back(pair.second);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

u64 Portfolio::round_end(u64 index) {
  u64 end = kFirstRound;
  while (end <= index) end *= 2;
  return end;
}

u64 Portfolio::round_begin(u64 index) {
  return index < kFirstRound ? 0 : round_end(index) / 2;
}

bool Portfolio::detects(u64 index) {
  return index < kFirstRound || index - round_begin(index) < kLaterDetections;
}

exec::Plan Portfolio::plan(u64 index, const SearchState& state) const {
  exec::Plan plan;
  // Neighbouring numbers must not give related executions.
  plan.head.seed = mix(mix(options_.seed) + (index + 1) * 0x9e3779b97f4a7c15u);
  plan.head.depth = options_.depth;
  plan.head.expected_choices = state.length;
  plan.head.most_steps = options_.most_steps;
  plan.head.points = options_.points;
  plan.head.backend = options_.backend;
  plan.head.detect = detects(index) ? trail::Detect::kRaces : trail::Detect::kNothing;
  // Nobody knows yet which plain variables race: a thread that waits for one must not keep the others away.
  if (detects(index) && options_.points == trail::Points::kSync) plan.head.points = trail::Points::kLongRuns;
  // A thread's later accesses to a variable race as much as the first, which alone is reported.
  plan.head.variables = true;
  plan.head.model = options_.model;
  // Strategies come in a cycle of eight; with the five heuristics of today every two meet.
  if (options_.model != ModelId::kSc)
    plan.head.heuristic = options_.heuristic.value_or(heuristic_in_turn(index));
  plan.sites = state.sites();
  choose(index, state, plan);
  return plan;
}

/// Runs that look for races take the strategies whose schedules differ most: they see other races.
StrategyId Portfolio::detecting(u64 index, exec::Plan& plan) {
  constexpr StrategyId kCycle[] = {StrategyId::kRandom, StrategyId::kPos,    StrategyId::kTurns,
                                   StrategyId::kPlaces, StrategyId::kRandom, StrategyId::kPos,
                                   StrategyId::kPct,    StrategyId::kTurns};
  plan.head.depth = 1 + static_cast<u32>(index / std::size(kCycle) % 3);
  // What is known to race adds places to switch, and can make a failure rarer that needs none of them.
  if (index >= kFirstRound && index / 4 % 2 != 0) plan.sites.clear();
  return kCycle[index % std::size(kCycle)];
}

/// Of sixteen runs one is directed at known pairs: they may be such as cannot be brought together, and the
/// other strategies switch at racing accesses too.
StrategyId Portfolio::in_turn(u64 index, bool pairs, exec::Plan& plan) {
  constexpr StrategyId kCycle[] = {StrategyId::kRacefuzzer, StrategyId::kPlaces, StrategyId::kRandom,
                                   StrategyId::kPos,        StrategyId::kTurns,  StrategyId::kPlaces,
                                   StrategyId::kRandom,     StrategyId::kPos};
  u64 turn = index / std::size(kCycle);
  StrategyId chosen = kCycle[index % std::size(kCycle)];
  if (chosen == StrategyId::kRacefuzzer && (turn % 2 != 0 || !pairs)) chosen = StrategyId::kPct;
  if (chosen == StrategyId::kPct) plan.head.depth = 1 + static_cast<u32>(turn / 2 % 4);
  if (chosen == StrategyId::kPlaces) plan.head.depth = 1 + static_cast<u32>(turn % 3);
  return chosen;
}

void Portfolio::choose(u64 index, const SearchState& state, exec::Plan& plan) const {
  StrategyId chosen = StrategyId::kRandom;
  u64 turn = index;  // ordinal of this run among those of its strategy
  if (options_.strategy != "portfolio") {
    chosen = id_of<StrategyId>(options_.strategy.c_str()).value_or(chosen);
  } else if (plan.head.detect != trail::Detect::kNothing) {
    chosen = detecting(index, plan);
  } else {
    chosen = in_turn(index, !state.pairs.empty(), plan);
    turn = index / 16;
  }
  if (chosen == StrategyId::kRacefuzzer) {
    if (state.pairs.empty()) {
      chosen = StrategyId::kRandom;  // no pair is known yet
    } else {
      // One pair at a time as its paper does, and now and then all: some failures need two races.
      u64 which = turn % (state.pairs.size() + (state.pairs.size() > 1 ? 1 : 0));
      if (which < state.pairs.size())
        plan.pairs = {state.pairs[which]};
      else
        plan.pairs = state.pairs;
    }
  }
  plan.head.strategy = chosen;
}

void Portfolio::learn(const std::vector<RunFeedback>& feedback, SearchState& state) {
  std::vector<u64> lengths;
  for (const RunFeedback& run : feedback) {
    state.pairs.insert(state.pairs.end(), run.pairs.begin(), run.pairs.end());
    if (run.choices != 0) lengths.push_back(run.choices);
  }
  std::sort(state.pairs.begin(), state.pairs.end(), before);
  state.pairs.erase(std::unique(state.pairs.begin(), state.pairs.end(), equal), state.pairs.end());
  // The middle, not the longest: one run that span for long would make pct lower priorities where no other
  // run ever comes.
  if (!lengths.empty()) {
    auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    state.length = *middle;
  }
}

}  // namespace duress::search
