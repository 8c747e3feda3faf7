// SPDX-License-Identifier: Apache-2.0
//
// The least number of preemptions that a class of executions needs. The interleaving that the explorer
// proposes may have more only because of how it was found; what counts is the best order of the same steps.
#pragma once

#include "exhaustive/step.h"

namespace duress::search {

/// A lower bound: over all equivalent orders of the steps, the least number of switches away from a strand
/// that is enabled. A strand whose next step can block counts as blocked. 0 if there are too many orders.
u32 least_preemptions(const exhaustive::Step* const* steps, u32 count);

struct Preemptions {
  int most;
  static bool admit(void* self, const exhaustive::Step* const* steps, u32 count) {
    return least_preemptions(steps, count) <= static_cast<u32>(static_cast<Preemptions*>(self)->most);
  }
};

}  // namespace duress::search
