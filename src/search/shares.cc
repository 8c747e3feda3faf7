// SPDX-License-Identifier: Apache-2.0
#include "search/shares.h"

#include <algorithm>

#include "base/prng.h"

namespace duress::search {
namespace {

constexpr u64 kUnit = 16;  // arms count in parts of a run, so that halving does not end at once

}  // namespace

void Shares::end_round() {
  for (auto& [strategy, arm] : arms_) {
    arm.runs /= 2;
    arm.fresh /= 2;
  }
}

void Shares::note(StrategyId strategy, u64 fresh_pairs) {
  Arm& arm = arms_[strategy];
  arm.runs += kUnit;
  arm.fresh += kUnit * fresh_pairs;
}

/// Fresh pairs per run, in 1/256.
u64 Shares::rate_of(StrategyId strategy) const {
  auto arm = arms_.find(strategy);
  return arm == arms_.end() || arm->second.runs == 0 ? 0 : 256 * arm->second.fresh / arm->second.runs;
}

std::vector<StrategyId> Shares::deal(u64 count, u64 seed, const std::map<StrategyId, u32>& base) const {
  struct Player {
    StrategyId strategy;
    i64 weight, credit;
  };
  u64 highest = 1;
  for (const auto& [strategy, share] : base) highest = std::max(highest, rate_of(strategy));
  std::vector<Player> players;
  i64 total = 0;
  Prng prng(seed);
  for (const auto& [strategy, share] : base) {
    constexpr u64 kFixed = 256;
    auto weight = static_cast<i64>(share * (kFixed + kFixed * rate_of(strategy) / highest));
    total += weight;
    players.push_back({strategy, weight, 0});
  }
  // In which order they begin is drawn, or a strategy with a small share would never come in a short round.
  for (Player& player : players) player.credit = static_cast<i64>(prng.below(static_cast<u64>(total)));
  std::vector<StrategyId> dealt;
  for (u64 i = 0; i < count && !players.empty(); ++i) {
    Player* next = &players[0];
    for (Player& player : players) {
      player.credit += player.weight;
      if (player.credit > next->credit) next = &player;
    }
    next->credit -= total;
    dealt.push_back(next->strategy);
  }
  return dealt;
}

}  // namespace duress::search
