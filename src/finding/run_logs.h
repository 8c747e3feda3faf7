// SPDX-License-Identifier: Apache-2.0
//
// The logs that a run left behind, with the lines that only controlled executions write
// (docs/design/log.md).
#ifndef DURESS_FINDING_RUN_LOGS_H_
#define DURESS_FINDING_RUN_LOGS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/log_record.h"
#include "trail/execution.h"

namespace duress::finding {

using finding::Address;

/// A thread at the end of a run that got stuck.
struct StuckStrand {
  int strand = 0;
  std::string name;
  std::string state;  // "blocked", "runnable", "ended"
  std::string operation;
  Address object = 0;
  std::vector<int> held_by;
  std::vector<Address> stack;  // innermost first
};

struct Stuck {
  std::string outcome;  // "deadlock", "livelock", "step-limit", "stuck"
  std::vector<StuckStrand> strands;
};

/// One step of a traced run.
struct Step {
  u64 number = 0;
  int strand = 0;
  std::string name;  // of the strand
  std::string operation;
  Address object = 0;
  u64 size = 0;
  int joins = -1;  // of a join: the strand
  std::string value;
  trail::ValueType type = trail::ValueType::kInteger;
  std::string newest;  // "": the value is the newest
  std::optional<finding::SiteRecord> site;
  Address place = 0;  // a return address, if there is no site
};

/// A load that did not return the newest value.
struct StaleRead {
  int strand = 0;
  std::optional<finding::SiteRecord> site;
  Address object = 0;
  u64 size = 0;
  std::string value, newest;
};

struct SiteKey {
  finding::SiteRecord site;
  u32 key = 0;
};

struct RunLogs {
  finding::RunLog run;
  std::optional<Stuck> stuck;
  std::vector<Step> steps;
  std::vector<SiteKey> keys;
  std::vector<StaleRead> stale;  // the first of them
  int pid = 0;                   // of the process that the execution was

  /// The log of that process, or of the first one if it left none; null if there is none at all.
  const finding::ProcessLog* process() const;
};

/// Reads every log below `folder`. `pid`: the process whose extra lines count.
RunLogs read_run_logs(const std::string& folder, int pid);

/// The extra lines of one log; what makes no sense is left out.
void parse_extra_lines(std::string_view text, RunLogs& into);

/// The pairs of sites that raced, as keys, sorted, each once. Sites whose keys the log does not tell are
/// left out.
std::vector<trail::SitePair> racing_pairs(const RunLogs& logs);

/// The same of the pairs that an analysis only suspects: run the detecting executions with the chain
/// `[FastTrack,Hybrid]` (WorkerOptions::chain), and hand these to racefuzzer too.
std::vector<trail::SitePair> suspected_pairs(const RunLogs& logs);

/// The same of the potential deadlocks that LockOrder tells: each half is one lock taken while the other is
/// held (trail::lock_key).
std::vector<trail::SitePair> suspected_deadlocks(const RunLogs& logs);

}  // namespace duress::finding

#endif  // DURESS_FINDING_RUN_LOGS_H_
