// SPDX-License-Identifier: Apache-2.0
//
// No strategy is best for all bugs: racefuzzer needs a race, pct is sure to find shallow ones, random and pos
// find what needs many switches. So the search deals them out in turn. Races come first, because a site that
// races must be a schedule point before any strategy can preempt there.
#include "search/portfolio.h"

#include <algorithm>
#include <tuple>

#include "base/prng.h"

namespace duress::search {
namespace {

constexpr u64 kFirstRound = 16;
constexpr u64 kLaterDetections = 4;

#define DURESS_HEURISTIC(identifier, name, description) identifier,
enum Heuristic : u32 { DURESS_HEURISTICS(DURESS_HEURISTIC) };
#undef DURESS_HEURISTIC
// The likeliest first. One run in five is sequentially consistent: what fails then needs no model.
constexpr Heuristic kHeuristicsInTurn[] = {kRandom, kOldest, kSequentiallyConsistent, kRandomButDifferent,
                                           kOldestButDifferent};

bool before(const trail::SitePair& a, const trail::SitePair& b) {
  return std::tie(a.first, a.second) < std::tie(b.first, b.second);
}

bool equal(const trail::SitePair& a, const trail::SitePair& b) {
  return a.first == b.first && a.second == b.second;
}

}  // namespace

std::vector<u32> Knowledge::sites() const {
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

exec::Plan Portfolio::plan(u64 index, const Knowledge& knowledge) const {
  exec::Plan plan;
  // Neighbouring numbers must not give related executions.
  plan.head.seed = mix(mix(options_.seed) + (index + 1) * 0x9e3779b97f4a7c15u);
  plan.head.depth = options_.depth;
  plan.head.length = knowledge.length;
  plan.head.most_steps = options_.most_steps;
  plan.head.points = options_.points;
  plan.head.backend = options_.backend;
  plan.head.detect = detects(index) ? 1 : 0;
  plan.head.model = options_.model;
  // There are five, and strategies come in a cycle of four: every two meet.
  if (options_.model != 0)
    plan.head.heuristic = options_.heuristic.value_or(static_cast<u32>(kHeuristicsInTurn[index % 5]));
  plan.sites = knowledge.sites();
  choose(index, knowledge, plan);
  return plan;
}

void Portfolio::choose(u64 index, const Knowledge& knowledge, exec::Plan& plan) const {
  StrategyId chosen = StrategyId::kRandom;
  bool mixed = options_.strategy == "portfolio";
  if (!mixed) exec::strategy_from_name(options_.strategy.c_str(), chosen);
  u64 turn = index;  // the how-manieth run of its strategy
  if (mixed && plan.head.detect != 0) {
    // pct runs threads in a very different order from each other, random mixes them: both see other races.
    chosen = index % 2 == 0 ? StrategyId::kRandom : StrategyId::kPct;
    plan.head.depth = 1 + static_cast<u32>(index / 2 % 3);
  } else if (mixed) {
    turn = index / 4;
    switch (index % 4) {
      case 0:
        chosen = knowledge.pairs.empty() ? StrategyId::kPos : StrategyId::kRacefuzzer;
        break;
      case 1:
        chosen = StrategyId::kPct;
        plan.head.depth = 1 + static_cast<u32>(turn % 4);
        break;
      case 2:
        chosen = StrategyId::kRandom;
        break;
      default:
        chosen = turn % 2 == 0             ? StrategyId::kPos
                 : knowledge.pairs.empty() ? StrategyId::kPct
                                           : StrategyId::kRacefuzzer;
        break;
    }
  }
  if (chosen == StrategyId::kRacefuzzer) {
    if (knowledge.pairs.empty()) {
      chosen = StrategyId::kRandom;  // nothing to bring together yet
    } else {
      // One pair at a time as its paper does, and now and then all: some failures need two races.
      u64 which = turn % (knowledge.pairs.size() + (knowledge.pairs.size() > 1 ? 1 : 0));
      if (which < knowledge.pairs.size())
        plan.pairs = {knowledge.pairs[which]};
      else
        plan.pairs = knowledge.pairs;
    }
  }
  plan.head.strategy = raw(chosen);
}

void Portfolio::learn(const std::vector<Lesson>& lessons, Knowledge& knowledge) {
  std::vector<u64> lengths;
  for (const Lesson& lesson : lessons) {
    knowledge.pairs.insert(knowledge.pairs.end(), lesson.pairs.begin(), lesson.pairs.end());
    if (lesson.choices != 0) lengths.push_back(lesson.choices);
  }
  std::sort(knowledge.pairs.begin(), knowledge.pairs.end(), before);
  knowledge.pairs.erase(std::unique(knowledge.pairs.begin(), knowledge.pairs.end(), equal),
                        knowledge.pairs.end());
  // The middle, not the longest: one run that span for long would make pct lower priorities where no other
  // run ever comes.
  if (!lengths.empty()) {
    auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    knowledge.length = *middle;
  }
}

}  // namespace duress::search
