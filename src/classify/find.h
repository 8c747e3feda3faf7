// SPDX-License-Identifier: Apache-2.0
//
// First of all: which variables race? Runs under several schedules, with a detector that is always right and,
// where there is one, with one that also sees races which these schedules did not show.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "classify/campaign_record.h"
#include "classify/variable.h"
#include "exec/oracle.h"
#include "exec/worker_pool.h"
#include "finding/names.h"

namespace duress::classify {

struct FindOptions {
  u64 seed = 1;
  u64 runs = 32;        // with the precise detector
  u64 hybrid_runs = 8;  // with the one that reports a superset
};

struct FoundRaces {
  finding::RunLog log;  // the races, in order of the runs
  std::map<std::string, Variable> variables;
  std::set<std::string> incomplete;  // what could not be controlled
  u64 runs = 0, failed = 0;
  finding::Failure failure;  // of the first run that failed
  bool one_thread = true;    // no run had a second thread
  u64 most_output = 0;       // bytes, of one run
  bool long_runs = false;    // a thread went on for long past plain accesses: it may wait for one

  /// It fails in every run, and no race that was found explains why: nothing can be said of any.
  bool always_fails() const {
    return runs != 0 && failed == runs &&
           std::none_of(variables.begin(), variables.end(),
                        [](const auto& entry) { return entry.second.witness() != nullptr; });
  }
};

/// Threads: one at a time.
class RaceFinder {
 public:
  RaceFinder(FindOptions options, exec::Oracle& oracle, finding::Names& names, CampaignRecord& record)
      : options_(options), oracle_(oracle), names_(names), record_(record) {}

  /// Looks for races with the workers of `pool`, whose chain is `analysis`. False if it was not finished.
  bool run(exec::WorkerPool& pool, const std::string& analysis, u64 runs, const exec::WorkerPool::Tick& tick);
  FoundRaces& found() { return found_; }

  /// Drops races that only the imprecise detector reported and that were never confirmed.
  void drop_unconfirmed();

 private:
  struct Seen;
  void take(const finding::RunLogs& logs);

  FindOptions options_;
  exec::Oracle& oracle_;
  finding::Names& names_;
  CampaignRecord& record_;
  FoundRaces found_;
};

/// Whether the runtime has an analysis of that name.
bool has_analysis(const std::string& name);
inline constexpr const char* kPrecise = "FastTrack";
inline constexpr const char* kHybrid = "Hybrid";

}  // namespace duress::classify
