// SPDX-License-Identifier: Apache-2.0
//
// The few steps of a traced witness that explain it: the accesses to the variable, and the failure.
#ifndef DURESS_CAMPAIGN_INTERLEAVING_H_
#define DURESS_CAMPAIGN_INTERLEAVING_H_

#include <string>
#include <vector>

#include "campaign/failure.h"
#include "campaign/plan.h"

namespace duress::campaign {

/// Lines, a column per thread. The schedule points of a witness are its variable's accesses and
/// synchronisation, so every plain access in the trace is one of the variable's.
std::vector<std::string> interleaving(const RunLogs& logs, const trail::Record& record,
                                      const Failure& failure, Names& names);

/// A failure in a word or two: "SIGSEGV", "exit code 1".
std::string short_text(const Failure& failure);

}  // namespace duress::campaign

#endif  // DURESS_CAMPAIGN_INTERLEAVING_H_
