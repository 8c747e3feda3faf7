// SPDX-License-Identifier: Apache-2.0
//
// How duress::check chooses its executions. Each returns true when an execution failed.
#pragma once

#include "check/saved_race.h"

namespace duress {

/// Random executions by a portfolio of strategies. The failure is minimised and reported.
bool search(DuressCheck& c);
/// Every interleaving under sc up to equivalence, until one fails; that is the last one that was executed.
/// One that has only a race is saved; then the racing accesses become steps, and the exploration starts over.
bool explore_interleavings(DuressCheck& c, SavedRace& race);
/// The same under rc11.
bool explore_graphs(DuressCheck& c, SavedRace& race);

/// Why an exploration has to stop before execution number `runs`, in words; null: it need not. `raced`: a
/// race was found, and the check fails in any case.
const char* stop_reason(const Deadline& deadline, u64 runs, u64 nodes, bool raced);
/// Sites that were found to race become steps. True: there are new ones, and the exploration has to start
/// over.
bool promote_racing_sites();
/// Why an exploration that came to its end is not complete; null: it is.
const char* end_reason(u32 limits);

}  // namespace duress
