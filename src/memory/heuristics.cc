// SPDX-License-Identifier: Apache-2.0
#include "memory/heuristics.h"

#include <string.h>

#include "base/check.h"

namespace duress::memory {
namespace {

enum class Which : u8 { kAll, kDifferent };

/// The values that may be picked: all, or those that differ from the last one read. If none differs, all are
/// the last one read, and there is only one.
struct Selection {
  Selection(const Legal& legal, Which which) {
    for (u32 i = 0; i < legal.count; ++i) {
      if (which == Which::kAll || !legal.values[i].same_as_last) indexes[count++] = i;
    }
    if (count == 0) indexes[count++] = 0;
  }
  u32 indexes[Legal::kMost];
  u32 count = 0;
};

u32 oldest(const Legal& legal, Which which) {
  Selection among(legal, which);
  u32 best = among.indexes[0];
  for (u32 i = 1; i < among.count; ++i) {
    if (legal.values[among.indexes[i]].age > legal.values[best].age) best = among.indexes[i];
  }
  return best;
}

u32 random(const Legal& legal, Which which, Chooser& chooser) {
  Selection among(legal, which);
  if (among.count == 1) return among.indexes[0];
  u32 drawn = chooser.choose(among.count);
  DURESS_CHECK(drawn < among.count);
  return among.indexes[drawn];
}

}  // namespace

u32 pick_value(HeuristicId heuristic, const Legal& legal, Chooser& chooser) {
  switch (heuristic) {
    case HeuristicId::kSequentiallyConsistent:
      return 0;
    case HeuristicId::kOldest:
      return oldest(legal, Which::kAll);
    case HeuristicId::kOldestButDifferent:
      return oldest(legal, Which::kDifferent);
    case HeuristicId::kRandom:
      return random(legal, Which::kAll, chooser);
    case HeuristicId::kRandomButDifferent:
      return random(legal, Which::kDifferent, chooser);
  }
  DURESS_CHECK(!"a heuristic");
  return 0;
}

bool heuristic_named(const char* name, HeuristicId* id) {
#define DURESS_HEURISTIC(identifier, text, description) \
  if (strcmp(name, text) == 0) {                        \
    *id = HeuristicId::identifier;                      \
    return true;                                        \
  }
  DURESS_HEURISTICS(DURESS_HEURISTIC)
#undef DURESS_HEURISTIC
  return false;
}

}  // namespace duress::memory
