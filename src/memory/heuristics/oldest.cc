// SPDX-License-Identifier: Apache-2.0
//
// The oldest value is the likeliest to be a default-initialised field that the program never expects to see.
#include "memory/heuristics/selection.h"

namespace duress::memory {
namespace {

u32 oldest(const Legal& legal, Which which) {
  Selection among(legal, which);
  u32 best = among.indexes[0];
  for (u32 i = 1; i < among.count; ++i) {
    if (legal.values[among.indexes[i]].age > legal.values[best].age) best = among.indexes[i];
  }
  return best;
}

}  // namespace

DURESS_DEFINE_HEURISTIC(Oldest) {
  return oldest(legal, Which::kAll);
}

DURESS_DEFINE_HEURISTIC(OldestButDifferent) {
  return oldest(legal, Which::kDifferent);
}

}  // namespace duress::memory
