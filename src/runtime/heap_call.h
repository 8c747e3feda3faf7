// SPDX-License-Identifier: Apache-2.0
//
// Which function a heap block came from, or is given back by: the two have to belong together.
#pragma once

#include "base/types.h"

namespace duress {

enum class HeapCall : u8 { kUnknown, kMalloc, kCalloc, kNew, kNewArray };

/// Whether blocks of the one may be freed by the other's counterpart.
constexpr bool belong_together(HeapCall a, HeapCall b) {
  auto family = [](HeapCall call) { return call == HeapCall::kCalloc ? HeapCall::kMalloc : call; };
  return a == HeapCall::kUnknown || b == HeapCall::kUnknown || family(a) == family(b);
}

}  // namespace duress
