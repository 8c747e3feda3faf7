// SPDX-License-Identifier: Apache-2.0
//
// How duress::check chooses its executions. Each returns true when an execution failed.
#ifndef DURESS_CHECK_EXPLORERS_H_
#define DURESS_CHECK_EXPLORERS_H_

#include "check/execution.h"

namespace duress {

/// Random executions by a portfolio of strategies. The failure is minimised and reported.
bool search(DuressCheck& c);
/// Every interleaving under sc up to equivalence, until one fails; that is the last one that was executed.
bool explore_interleavings(DuressCheck& c);
/// The same under rc11.
bool explore_graphs(DuressCheck& c);

/// Why an exploration has to stop before execution number `runs`, in words; null: it need not.
const char* stop_reason(const Deadline& deadline, u64 runs, u64 nodes);

}  // namespace duress

#endif  // DURESS_CHECK_EXPLORERS_H_
