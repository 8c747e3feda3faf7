// SPDX-License-Identifier: Apache-2.0
#include "sched/strategies/strategies_list.h"

namespace duress::sched {

Strategy* strategy_of(StrategyId id) {
  switch (id) {
    case StrategyId::kReplay:
      return &replay_strategy();
    case StrategyId::kRandom:
      return &random_strategy();
    case StrategyId::kPct:
      return &pct_strategy();
    case StrategyId::kPos:
      return &pos_strategy();
    case StrategyId::kRacefuzzer:
      return &racefuzzer_strategy();
    case StrategyId::kRoundRobin:
      return &round_robin_strategy();
    case StrategyId::kExhaustive:
      return &exhaustive_strategy();
  }
  return nullptr;
}

bool strategy_named(const char* name, StrategyId* id) {
#define DURESS_STRATEGY(identifier, text, description) \
  if (__builtin_strcmp(name, text) == 0) {             \
    *id = StrategyId::identifier;                      \
    return true;                                       \
  }
  DURESS_STRATEGIES(DURESS_STRATEGY)
#undef DURESS_STRATEGY
  return false;
}

}  // namespace duress::sched
