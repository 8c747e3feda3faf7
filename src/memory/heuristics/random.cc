// SPDX-License-Identifier: Apache-2.0
//
// Any value, with equal probability.
#include "base/check.h"
#include "memory/heuristics/selection.h"

namespace duress::memory {
namespace {

u32 random(const Legal& legal, Which which, Chooser& chooser) {
  Selection among(legal, which);
  if (among.count == 1) return among.indexes[0];
  u32 drawn = chooser.choose(among.count);
  DURESS_CHECK(drawn < among.count);
  return among.indexes[drawn];
}

}  // namespace

DURESS_DEFINE_HEURISTIC(Random) {
  return random(legal, Which::kAll, chooser);
}

DURESS_DEFINE_HEURISTIC(RandomButDifferent) {
  return random(legal, Which::kDifferent, chooser);
}

}  // namespace duress::memory
