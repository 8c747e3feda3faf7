// SPDX-License-Identifier: Apache-2.0
//
// From a strategy's number to its object; the catalog's table makes both lists.
#include "sched/strategy.h"

namespace duress::sched {

#define DURESS_STRATEGY(identifier, name, description) Strategy* strategy_##identifier();
DURESS_STRATEGIES(DURESS_STRATEGY)
#undef DURESS_STRATEGY

Strategy* strategy_of(StrategyId id) {
#define DURESS_STRATEGY(identifier, name, description) strategy_##identifier,
  constexpr Strategy* (*kStrategies[])() = {DURESS_STRATEGIES(DURESS_STRATEGY)};
#undef DURESS_STRATEGY
  return raw(id) < kCatalogSize<StrategyId> ? kStrategies[raw(id)]() : nullptr;
}

}  // namespace duress::sched
