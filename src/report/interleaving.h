// SPDX-License-Identifier: Apache-2.0
//
// The few steps of a traced witness that explain it: the accesses to the variable, and the failure.
#pragma once

#include <string>
#include <vector>

#include "finding/failure.h"
#include "trail/execution.h"

namespace duress::report {

/// Lines, a column per thread. The schedule points of a witness are its variable's accesses and
/// synchronisation, so every plain access in the trace is one of the variable's.
std::vector<std::string> interleaving(const finding::RunLogs& logs, const trail::Record& record,
                                      const finding::Failure& failure, finding::Names& names);

/// A failure in a word or two: "SIGSEGV", "exit code 1".
std::string short_text(const finding::Failure& failure);

}  // namespace duress::report
