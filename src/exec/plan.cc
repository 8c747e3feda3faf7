// SPDX-License-Identifier: Apache-2.0
#include "exec/plan.h"

#include <cstring>
#include <iterator>

namespace duress::exec {
namespace {

constexpr const char* kNames[] = {
#define DURESS_STRATEGY(identifier, name, description) name,
    DURESS_STRATEGIES(DURESS_STRATEGY)
#undef DURESS_STRATEGY
};

#define DURESS_NAME(identifier, name, description) name,
constexpr const char* kModels[] = {DURESS_MODELS(DURESS_NAME)};
constexpr const char* kHeuristics[] = {DURESS_HEURISTICS(DURESS_NAME)};
#undef DURESS_NAME

template <std::size_t N>
bool number_of(const char* const (&names)[N], const char* name, u32& number) {
  for (u32 i = 0; i < N; ++i) {
    if (std::strcmp(names[i], name) != 0) continue;
    number = i;
    return true;
  }
  return false;
}

}  // namespace

const char* strategy_name(StrategyId id) {
  return raw(id) < std::size(kNames) ? kNames[raw(id)] : "unknown";
}

bool strategy_from_name(const char* name, StrategyId& id) {
  u32 number = 0;
  if (!number_of(kNames, name, number)) return false;
  id = static_cast<StrategyId>(number);
  return true;
}

const char* model_name(u32 model) {
  return model < std::size(kModels) ? kModels[model] : "unknown";
}

bool model_from_name(const char* name, u32& model) {
  return number_of(kModels, name, model);
}

const char* heuristic_name(u32 heuristic) {
  return heuristic < std::size(kHeuristics) ? kHeuristics[heuristic] : "unknown";
}

bool heuristic_from_name(const char* name, u32& heuristic) {
  return number_of(kHeuristics, name, heuristic);
}

}  // namespace duress::exec
