// SPDX-License-Identifier: Apache-2.0
//
// A failing trial on its way to a witness: it is run again, tried without its replaced values, made small,
// and replayed.
#pragma once

#include "classify/trial_runner.h"
#include "classify/verdict.h"
#include "search/minimiser.h"

namespace duress::classify {

inline constexpr u64 kReplays = 20;

/// Threads: one at a time.
class WitnessExaminer {
 public:
  WitnessExaminer(TrialRunner& trials, CampaignRecord& record, exec::WorkerPool& pool, exec::Worker& worker,
                  const Variable& variable);

  /// Looks at a candidate. Nothing: the worker was stopped or has a problem.
  std::optional<Witness> examine(const Candidate& candidate);

 private:
  struct Run {
    exec::Execution execution;
    std::optional<finding::Failure> failure;
    finding::RunLogs logs;
    bool same = false;  // it fails as the candidate does, and every value of the future was stored
  };
  std::optional<Run> run(const exec::Plan& plan);
  /// Whether the failure comes with the same choices of threads and no replaced value.
  std::optional<bool> needs_no_value();
  bool minimise_trail();
  bool minimise_predictions();
  bool confirm();
  /// Once more with a trace: what there is to show of it.
  bool show();

  TrialRunner& trials_;
  CampaignRecord& record_;
  exec::WorkerPool& pool_;
  exec::Worker& worker_;
  const Variable& variable_;
  Candidate candidate_;
  Witness witness_;
  u64 steps_ = 0;  // of the candidate
};

/// As kept in the record.
std::string witness_text(const Witness& witness);
bool read_witness(const std::string& text, Witness& witness);

}  // namespace duress::classify
