// SPDX-License-Identifier: Apache-2.0
//
// From trials to a verdict. No execution happens here, so that every rule can be tested by itself.
//
// A failing trial is evidence if the trial with the same number under sequentially consistent memory passed.
// It becomes a witness if it comes again, and if the same schedule without the replaced values passes.
#pragma once

#include "classify/charge.h"

namespace duress::classify {

/// What sequentially consistent runs print.
struct Outputs {
  std::set<u64> seen;  // hashes
  /// Whether another output is evidence: not if new ones still came in the second half of the baseline.
  bool settled = true;
};
Outputs outputs_of(const Variable& variable);

/// The failure of a trial, its output included; nothing if it passed, or was thrown away.
std::optional<finding::Failure> failure_of(const Trial& trial, const Outputs& outputs);

/// The baseline first, then the attacks.
std::vector<Rate> rates_of(const Variable& variable);

/// A trial that may become a witness.
struct Candidate {
  Attack attack;
  u64 trial;
  finding::Failure failure;
  u64 output;
};
/// The most telling first: by the schedule alone, where that is to be charged to the race; then by values.
/// Those that have been looked at are left out, and at most kMostWitnesses are looked at.
inline constexpr std::size_t kMostWitnesses = 8;
std::vector<Candidate> candidates_of(const Variable& variable);
/// Whether all that speaks against the variable is an output that no baseline run printed: then more
/// schedules must be asked first.
bool only_output(const std::vector<Candidate>& candidates);

/// How much more work an attack makes: the median, over trials that passed, of steps against those of the
/// trial with the same number in the baseline. Nothing below kLeastSlower times and kLeastMore steps (a loop
/// that waits makes a few more rounds before fairness ends it), nothing from less than kLeastSlowerTrials,
/// and nothing if fewer than half of them take more steps than any baseline run.
struct Slower {
  Attack by;
  double times;
};
inline constexpr double kLeastSlower = 1.5;
inline constexpr double kLeastMore = 100;
inline constexpr std::size_t kLeastSlowerTrials = 8;
std::optional<Slower> slower_of(const Variable& variable);

/// All that is said of a variable.
struct Verdict {
  VerdictKind kind = VerdictKind::kOpen;
  std::vector<Rate> rates;
  Rate counterfactual;  // the same seeds with sequentially consistent memory; of the schedule alone: `charge`
  Charge charge;
  std::optional<Slower> slower;
  u64 runs = 0;      // that could have failed
  u64 evidence = 0;  // failing trials that were not looked at yet
  /// It fails with sequentially consistent memory, which is not charged to this race: nothing can be said of
  /// it.
  std::optional<finding::Failure> other_failure;
  bool output_settled = true;
  u64 sc_failed = 0, sc_runs = 0;
  Figures figures;
};
Verdict verdict_of(const Variable& variable);

}  // namespace duress::classify
