// SPDX-License-Identifier: Apache-2.0
//
// The logs that a run left behind, with the lines that only controlled executions write
// (docs/design/log.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/log_record.h"
#include "trail/execution.h"

namespace duress::finding {

struct RunLogs : ControlLines {
  RunLog run;
  int pid = 0;  // of the process that the execution was

  /// Moves the lines of that process out of `run`.
  void take_control_lines();

  /// The log of that process, or of the first one if it left none; null if there is none at all.
  const finding::ProcessLog* process() const;
};

/// Reads every log below `folder`. `pid`: the process whose extra lines count.
RunLogs read_run_logs(const std::string& folder, int pid);

/// The pairs of sites that raced, and that a memory error is about, as keys, sorted, each once. Every free()
/// has one key (trail::kFreeKey). 0 is a site whose key the log does not tell; not both are.
std::vector<trail::SitePair> racing_pairs(const RunLogs& logs);

/// The same of the pairs that an analysis only suspects: run the detecting executions with the chain
/// `[FastTrack,Hybrid]` (WorkerOptions::chain), and hand these to racefuzzer too.
std::vector<trail::SitePair> suspected_pairs(const RunLogs& logs);

/// The same of the potential deadlocks that LockOrder tells: each half is one lock taken while the other is
/// held (trail::lock_key).
std::vector<trail::SitePair> suspected_deadlocks(const RunLogs& logs);

}  // namespace duress::finding
