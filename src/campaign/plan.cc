// SPDX-License-Identifier: Apache-2.0
#include "campaign/plan.h"

#include <cstring>
#include <iterator>

namespace duress::campaign {
namespace {

constexpr const char* kNames[] = {
#define DURESS_STRATEGY(identifier, name, description) name,
    DURESS_STRATEGIES(DURESS_STRATEGY)
#undef DURESS_STRATEGY
};

}  // namespace

const char* strategy_name(StrategyId id) {
  return raw(id) < std::size(kNames) ? kNames[raw(id)] : "unknown";
}

bool strategy_from_name(const char* name, StrategyId& id) {
  for (u32 i = 0; i < std::size(kNames); ++i) {
    if (std::strcmp(kNames[i], name) != 0) continue;
    id = static_cast<StrategyId>(i);
    return true;
  }
  return false;
}

}  // namespace duress::campaign
