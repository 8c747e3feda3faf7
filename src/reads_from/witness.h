// SPDX-License-Identifier: Apache-2.0
//
// Whether steps with a given reads-from relation can be executed one after the other, each reading the write
// that it is said to read, and in which order: a *witness*. To decide that is NP-complete in general (Gibbons
// and Korach, 1997). Orders that follow from the relation are added until there are no more; what is left is
// a search over how far each strand has come, where no such state is visited twice.
#pragma once

#include <optional>
#include <vector>

#include "reads_from/trace.h"
#include "trail/execution.h"

namespace duress::reads_from {

/// Steps of an execution, and after them up to two steps that differ from it or are not in it.
struct Cut {
  Counts counts;
  std::vector<Event> changed;  // the next ones of their strands; a later one may read an earlier one
};

/// More steps than this are not searched for a witness.
constexpr u32 kMostWitnessed = 500;

std::optional<std::vector<trail::Pick>> find_witness(const Trace& trace, const Cut& cut);

}  // namespace duress::reads_from
