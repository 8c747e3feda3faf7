// SPDX-License-Identifier: Apache-2.0
//
// What sequentially consistent memory returns: the baseline of the other heuristics.
#include "memory/heuristics.h"

namespace duress::memory {

DURESS_DEFINE_HEURISTIC(SequentiallyConsistent) {
  return 0;
}

}  // namespace duress::memory
