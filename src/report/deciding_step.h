// SPDX-License-Identifier: Apache-2.0
//
// The step of a failing execution at which a debugger is worth stopping: the load that got an old value, or
// the second of two racing accesses.
#pragma once

#include <optional>
#include <string>

#include "finding/lanes.h"
#include "finding/run_logs.h"

namespace duress::report {

struct DecidingStep {
  std::uint64_t number = 0;  // finding::Step::number
  int strand = 0;            // who performs it
  std::string text;          // "T2 is about to write x at a.cc:7; T1 read it at a.cc:5"
};

/// `lanes`: of the same execution, all of it. In order of preference:
/// - the last load that returned another value than memory held;
/// - the last access that conflicts with an earlier one of another thread and is not ordered after it by what
///   the lanes know, the other thread still having something to do;
/// - the same with a thread that has nothing left to do, and then with accesses that are ordered (the order
/// of
///   two atomic operations decides too).
/// None for deadlocks: their last step is where the threads wait.
std::optional<DecidingStep> deciding_step(const finding::RunLogs& logs, const finding::Lanes& lanes);

}  // namespace duress::report
