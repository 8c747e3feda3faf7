// SPDX-License-Identifier: Apache-2.0
//
// How many preemptions a class of executions needs at least. An execution that the explorer proposes may have
// many only because of the order in which it was found; what counts is the best order of the same steps.
#ifndef DURESS_SEARCH_PREEMPTIONS_H_
#define DURESS_SEARCH_PREEMPTIONS_H_

#include "exhaustive/step.h"

namespace duress::search {

/// A bound from below: over all orders of the steps that keep those which conflict, the least number of times
/// that a strand is left which could have gone on. A strand whose next step may have to wait counts as
/// waiting. 0 if there are too many orders to look at.
u32 least_preemptions(const exhaustive::Step* const* steps, u32 count);

struct Preemptions {
  int most;
  static bool admit(void* self, const exhaustive::Step* const* steps, u32 count) {
    return least_preemptions(steps, count) <= static_cast<u32>(static_cast<Preemptions*>(self)->most);
  }
};

}  // namespace duress::search

#endif  // DURESS_SEARCH_PREEMPTIONS_H_
