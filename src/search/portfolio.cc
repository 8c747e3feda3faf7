// SPDX-License-Identifier: Apache-2.0
//
// No strategy is best for all bugs: guided goes through few preemptions, racefuzzer needs a race, pct is sure
// to find shallow ones, places finds what many threads hide, turns what needs them to alternate, random and
// pos the rest. So the search deals them out, with shares that move towards what shows something new:
// bench/search has programs that only one of them finds. Races come first, because a site that races must be
// a schedule point before any strategy can preempt there.
#include "search/portfolio.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "base/prng.h"
#include "catalog/heuristics.h"
#include "catalog/portfolio.h"
#include "trail/site_key.h"

namespace duress::search {
namespace {

constexpr u64 kFirstRound = 16;
constexpr u64 kLeastRound = 32, kMostRound = 4096;  // workers wait at the end of each
constexpr u64 kLaterDetections = 8, kMoreDetections = 16, kMoreFrom = 64;
constexpr u64 kObservedOneIn = 4;   // of the runs of other strategies than guided; it costs them time
constexpr u64 kMostSeen = 100'000;  // reads-from pairs

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

u64 round_length(u64 index) {
  u64 block = std::bit_floor(index);
  return std::min(block, std::clamp(block / 8, kLeastRound, kMostRound));
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
  if (!keys.empty() && keys.front() == 0) keys.erase(keys.begin());
  return keys;
}

std::vector<trail::SitePair> SearchState::known_pairs() const {
  std::vector<trail::SitePair> known = pairs;
  std::erase_if(known, [](const trail::SitePair& pair) { return pair.first == 0 || pair.second == 0; });
  return known;
}

u64 Portfolio::round_begin(u64 index) {
  return index < kFirstRound ? 0 : index - index % round_length(index);
}

u64 Portfolio::round_end(u64 index) {
  return index < kFirstRound ? kFirstRound : round_begin(index) + round_length(index);
}

bool Portfolio::detects(u64 index) {
  u64 block = std::bit_floor(index);
  // What is protected by an algorithm alone races only when that fails, which may be rare.
  return index < kFirstRound || index - block < (block < kMoreFrom ? kLaterDetections : kMoreDetections);
}

std::vector<Portfolio::Turn> Portfolio::deal(u64 index, const SearchState& state) const {
  u64 begin = round_begin(index), count = round_end(index) - begin;
  std::map<StrategyId, u32> base;
  for (const portfolio::Share& share : portfolio::kShares) base[share.strategy] = share.runs;
  if (state.known_pairs().empty()) base.erase(StrategyId::kRacefuzzer);
  if (options_.strategy != "portfolio")
    base = {{id_of<StrategyId>(options_.strategy.c_str()).value_or(StrategyId::kRandom), 1}};
  std::vector<Turn> turns(count);
  std::vector<StrategyId> dealt = state.shares.deal(count, mix(options_.seed + begin), base);
  u64 guided = 0;
  for (u64 i = 0; i < count; ++i) {
    turns[i].strategy = dealt[i];
    guided += dealt[i] == StrategyId::kGuided && !detects(begin + i);
  }
  std::vector<u32> plans = state.guide.next(guided, mix(mix(options_.seed) + begin));
  u64 used = 0;
  for (u64 i = 0; i < count; ++i) {
    if (turns[i].strategy != StrategyId::kGuided || detects(begin + i)) continue;
    if (used < plans.size())
      turns[i].node = plans[used++];
    else
      turns[i].strategy = portfolio::kUndirected.strategy(i);
  }
  return turns;
}

exec::Plan Portfolio::plan(u64 index, const Turn& turn, const SearchState& state) const {
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
  if (options_.model != ModelId::kSc)
    plan.head.heuristic = options_.heuristic.value_or(heuristic_in_turn(index));
  plan.sites = state.sites();
  plan.head.strategy = turn.strategy;
  u64 drawn = mix(plan.head.seed + 1);
  bool portfolio = options_.strategy == "portfolio";
  if (detects(index) && (portfolio || turn.strategy == StrategyId::kGuided)) {
    plan.head.strategy = detecting(index, plan);
  } else if (portfolio && turn.strategy == StrategyId::kPct) {
    plan.head.depth = 1 + static_cast<u32>(drawn % 4);
  } else if (portfolio && turn.strategy == StrategyId::kPlaces) {
    plan.head.depth = 1 + static_cast<u32>(drawn % 3);
  }
  if (plan.head.strategy == StrategyId::kRacefuzzer) direct(portfolio ? drawn : index, state, plan);
  if (turn.node) guide(*turn.node, state, plan);
  plan.head.observe = turn.node || mix(plan.head.seed) % kObservedOneIn == 0;
  plan.head.memory = checks_memory(index, turn, plan);
  if (plan.head.memory && !detects(index)) plan.head.detect = trail::Detect::kClocks;
  return plan;
}

/// Memory errors are looked for where all accesses are seen anyway. The other runs have freed memory used
/// again, as it is without us: some bugs need that. But a use of freed memory is mostly without consequence,
/// so as soon as a free() is known to race, those of the guide look too, and half of the others.
bool Portfolio::checks_memory(u64 index, const Turn& turn, const exec::Plan& plan) const {
  if (detects(index)) return true;
  bool frees_race = std::binary_search(plan.sites.begin(), plan.sites.end(), trail::kFreeKey);
  return frees_race && (turn.node || mix(plan.head.seed + 2) % 2 == 0);
}

StrategyId Portfolio::detecting(u64 index, exec::Plan& plan) const {
  plan.head.depth = portfolio::kDetecting.depth(index);
  // What is known to race adds places to switch, and can make a failure rarer that needs none of them.
  if (index >= kFirstRound && index / 4 % 2 != 0) plan.sites.clear();
  return portfolio::kDetecting.strategy(index);
}

void Portfolio::direct(u64 turn, const SearchState& state, exec::Plan& plan) const {
  std::vector<trail::SitePair> pairs = state.known_pairs();
  if (pairs.empty()) {
    plan.head.strategy = StrategyId::kRandom;  // no pair is known yet
    return;
  }
  // One pair at a time as its paper does, and now and then all: some failures need two races.
  u64 which = turn % (pairs.size() + (pairs.size() > 1 ? 1 : 0));
  if (which < pairs.size())
    plan.pairs = {pairs[which]};
  else
    plan.pairs = std::move(pairs);
}

/// Executions that are to begin alike must have the same values too.
void Portfolio::guide(u32 node, const SearchState& state, exec::Plan& plan) const {
  plan.planned = state.guide.plan(node);
  plan.head.seed = mix(options_.seed);
  if (options_.model != ModelId::kSc) plan.head.heuristic = options_.heuristic.value_or(HeuristicId::kRandom);
}

void Portfolio::learn(const std::vector<RunFeedback>& feedback, SearchState& state) {
  std::vector<u64> lengths;
  std::vector<u32> points = state.sites();
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
  if (state.sites() != points) state.guide.reset();
  state.shares.end_round();
  for (const RunFeedback& run : feedback) {
    u64 fresh = 0;
    if (run.observation) {
      for (u32 pair : run.observation->pairs) {
        if (state.seen.size() < kMostSeen) fresh += state.seen.insert(pair).second;
      }
      state.shares.note(run.strategy, fresh);
    }
    // What was observed at other points is not what plans of today lead to.
    if (run.plan && state.sites() == points)
      state.guide.learn(*run.plan, run.observation ? &*run.observation : nullptr, fresh != 0);
  }
}

}  // namespace duress::search
