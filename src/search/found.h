// SPDX-License-Identifier: Apache-2.0
//
// A failure that a search or an exhaustive exploration found.
#pragma once

#include <string>

#include "exec/store.h"
#include "exec/worker.h"
#include "finding/failure.h"

namespace duress::search {

/// A failure with everything a report needs.
struct Found : finding::Reproduction {
  finding::Failure failure;
  finding::RunLogs logs;
  std::string errors;  // the end of what the run wrote to stderr
  u64 run = 0;
  exec::Plan plan;  // what was asked for
  exec::Trail trail;
  u64 times = 0;  // how many runs failed this way
};

/// As the store keeps it. `plan` is the execution that a replay asks for.
exec::StoredFinding stored_finding(const Found& found, const exec::Plan& plan,
                                   const exec::WorkerOptions& worker, const exec::OracleOptions& oracle,
                                   u64 seed);

}  // namespace duress::search
