// SPDX-License-Identifier: Apache-2.0
//
// From a heuristic's number to its function; the catalog's table makes both lists.
#include "memory/heuristics.h"

#include "base/check.h"

namespace duress::memory {

#define DURESS_HEURISTIC(identifier, name, description) DURESS_DEFINE_HEURISTIC(identifier);
DURESS_HEURISTICS(DURESS_HEURISTIC)
#undef DURESS_HEURISTIC

u32 pick_value(HeuristicId heuristic, const Legal& legal, Chooser& chooser) {
#define DURESS_HEURISTIC(identifier, name, description) pick_##identifier,
  constexpr u32 (*kPick[])(const Legal&, Chooser&) = {DURESS_HEURISTICS(DURESS_HEURISTIC)};
#undef DURESS_HEURISTIC
  DURESS_CHECK(raw(heuristic) < kCatalogSize<HeuristicId>);
  return kPick[raw(heuristic)](legal, chooser);
}

}  // namespace duress::memory
