// SPDX-License-Identifier: Apache-2.0
//
// The legal values among which a heuristic picks.
#pragma once

#include "memory/heuristics.h"

namespace duress::memory {

enum class Which : u8 { kAll, kDifferent };

/// All values, or those that differ from the last one read. If none differs, there is only the last one read.
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

}  // namespace duress::memory
