// SPDX-License-Identifier: Apache-2.0
//
// One execution as the host asks for it and as it came back: the two files of trail/execution.h, owned.
#pragma once

#include <vector>

#include "catalog/models.h"
#include "catalog/strategies.h"
#include "exhaustive/step_log.h"
#include "trail/execution.h"

namespace duress::exec {

using Trail = std::vector<trail::Deviation>;

/// What a replay has to follow: clocks decide which values are legal (rc11 has its own), and what looks for
/// memory errors needs to know the threads.
inline trail::Detect detect_for_replay(ModelId model, bool memory) {
  bool needs_clocks = memory || (model != ModelId::kSc && model != ModelId::kRc11);
  return needs_clocks ? trail::Detect::kClocks : trail::Detect::kNothing;
}

/// A request with its lists. The counts in `head` are set when it is written.
struct Plan {
  trail::Request head;
  std::vector<u32> sites;       // schedule points
  std::vector<u32> wait_sites;  // not schedule points, but they end a long run of one thread
  std::vector<trail::SitePair> pairs;
  Trail trail;
  std::vector<trail::Prediction> predictions;        // values of the future that loads return
  std::vector<trail::WhatIfEdit> edits;              // systematic executions: changes to pretend
  std::vector<trail::PlannedSwitch> planned;         // what guided follows
  std::vector<trail::Pick> picks;                    // the first choices of the exhaustive strategy
  std::vector<exhaustive::StepLog::Origin> origins;  // systematic executions: the known strands
  std::vector<u64> spins;                            // and the places of loops that wait

  /// The same execution again, following `choices` instead of a strategy.
  Plan replaying(Trail choices) const;
};

inline Plan Plan::replaying(Trail choices) const {
  Plan plan = *this;
  plan.head.strategy = StrategyId::kReplay;
  plan.head.detect = detect_for_replay(head.model, head.memory);
  plan.pairs.clear();
  plan.planned.clear();
  plan.picks.clear();
  plan.head.observe = plan.head.skip_known = plan.head.reads_from = false;
  plan.trail = std::move(choices);
  return plan;
}

/// How an execution went, as far as record, exit status and captured streams show.
struct Execution {
  trail::Record record;
  Trail trail;                          // what was chosen; with it the same execution comes again
  std::vector<exhaustive::Step> steps;  // of a systematic execution
  std::vector<exhaustive::StepLog::Origin> origins;
  std::vector<u64> spins;
  u32 limits = 0;                                // exhaustive::StepLog::Limit
  std::vector<trail::Prediction> future_values;  // with Request::profile_futures, in the order of the loads
  std::vector<trail::AtomicProfileEntry> atomic_profile;  // with Request::profile_atomics
  std::vector<trail::SideEvent> side_events;              // of a systematic execution
  std::vector<u32> observed_pairs;                        // with Request::observe
  std::vector<trail::SwitchPoint> switch_points;          // of the strategy guided
  int pid = 0;                                            // of the process that ran it
  int status = 0;                                         // as waitpid gives it
  bool timed_out = false;
  bool flooded = false;  // it was ended because it printed without end
  double seconds = 0;
  u64 output_bytes = 0, error_bytes = 0;

  bool began() const { return record.magic == trail::kMagic; }
};

}  // namespace duress::exec
