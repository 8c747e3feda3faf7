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

template <typename Id, std::size_t N>
bool id_of(const char* const (&names)[N], const char* name, Id& id) {
  for (u32 i = 0; i < N; ++i) {
    if (std::strcmp(names[i], name) != 0) continue;
    id = static_cast<Id>(i);
    return true;
  }
  return false;
}

}  // namespace

const char* strategy_name(StrategyId id) {
  return raw(id) < std::size(kNames) ? kNames[raw(id)] : "unknown";
}

bool strategy_from_name(const char* name, StrategyId& id) {
  return id_of(kNames, name, id);
}

const char* model_name(ModelId model) {
  return raw(model) < std::size(kModels) ? kModels[raw(model)] : "unknown";
}

bool model_from_name(const char* name, ModelId& model) {
  return id_of(kModels, name, model);
}

const char* heuristic_name(HeuristicId heuristic) {
  return raw(heuristic) < std::size(kHeuristics) ? kHeuristics[raw(heuristic)] : "unknown";
}

bool heuristic_from_name(const char* name, HeuristicId& heuristic) {
  return id_of(kHeuristics, name, heuristic);
}

}  // namespace duress::exec
