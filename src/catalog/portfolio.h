// SPDX-License-Identifier: Apache-2.0
//
// The portfolio: which strategies a search uses if none is named, and how often. No strategy is best for all
// bugs. One table for both searches, because a strategy that is added, or found to be better, concerns both:
// of whole programs (src/search/portfolio.cc), which learns from its runs which share each is to have, and of
// closures (src/check/search.cc), whose executions take 10 us and are not worth learning from.
#pragma once

#include "base/types.h"
#include "catalog/strategies.h"

namespace duress::portfolio {

struct Share {
  StrategyId strategy;
  u32 runs;
};

/// Of 32 runs of a whole program, before what is new moves them (search/shares.h). One is directed at known
/// races: they may be such as cannot be brought together, and the other strategies switch at racing accesses
/// too.
inline constexpr Share kShares[] = {
    {StrategyId::kGuided, 11}, {StrategyId::kPlaces, 5}, {StrategyId::kRandom, 5},    {StrategyId::kPos, 4},
    {StrategyId::kTurns, 4},   {StrategyId::kPct, 2},    {StrategyId::kRacefuzzer, 1}};

/// Strategies in turn. Each time the cycle begins anew, those that have a depth get the next one.
template <u64 kLength>
struct Cycle {
  StrategyId strategies[kLength];
  u32 depths;
  constexpr StrategyId strategy(u64 index) const { return strategies[index % kLength]; }
  constexpr u32 depth(u64 index) const { return 1 + static_cast<u32>(index / kLength % depths); }
};

/// Instead of guided, when the guide has no plan left.
inline constexpr Cycle<5> kUndirected = {
    {StrategyId::kPlaces, StrategyId::kRandom, StrategyId::kPos, StrategyId::kTurns, StrategyId::kRandom}, 1};
/// Runs that look for races take the strategies whose schedules differ most: they see other races.
inline constexpr Cycle<8> kDetecting = {
    {StrategyId::kRandom, StrategyId::kPos, StrategyId::kTurns, StrategyId::kPlaces, StrategyId::kRandom,
     StrategyId::kPos, StrategyId::kPct, StrategyId::kTurns},
    3};
/// Executions of a closure.
inline constexpr Cycle<4> kClosure = {
    {StrategyId::kRandom, StrategyId::kPct, StrategyId::kPos, StrategyId::kPct}, 4};

}  // namespace duress::portfolio
