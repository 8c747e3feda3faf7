// SPDX-License-Identifier: Apache-2.0
//
// One execution of a classification: what was requested and what it showed. Small: a
// campaign keeps every one.
#pragma once

#include <string>
#include <vector>

#include "classify/attacks.h"
#include "exec/plan.h"
#include "finding/failure.h"
#include "finding/verdict.h"

namespace duress::classify {

/// Which trial: results are found again by this.
struct TrialName {
  std::string phase;     // "find", "attack", "widen"
  std::string variable;  // "" while races are looked for
  Attack attack;
  u64 number = 0;
  u64 seed = 0;
  std::string context;  // whatever else decides what it does: sites, budget of steps
  u64 key() const;      // a hash of it all
};

using finding::Figures;

enum class TrialOutcome : u32 {
  kPassed,
  kFailed,
  kDiscarded,  // a value of the future was never stored: the execution proves nothing
  kNothing,    // it was not run: no load could return a value of the future
};

const char* name_of(TrialOutcome outcome);

struct Trial {
  TrialOutcome outcome = TrialOutcome::kPassed;
  finding::Failure failure;  // by the oracle; output is compared later
  u64 output = 0;            // hash of what it printed, if it ended well
  u64 steps = 0;
  u64 stale_loads = 0, future_loads = 0;
  u64 stores = 0, changing_stores = 0;
  Figures figures;
  std::vector<trail::SitePair> created;  // racefuzzer: pairs that were created

  bool ran() const { return outcome == TrialOutcome::kPassed || outcome == TrialOutcome::kFailed; }
  bool passed() const { return outcome == TrialOutcome::kPassed; }
  bool failed() const { return outcome == TrialOutcome::kFailed; }
};

/// What an execution says, but for its failure and its output.
Trial trial_of(const exec::Execution& execution);

/// All but the columns of their own, as text, and back. Damaged text gives false.
std::string trial_text(const Trial& trial);
bool read_trial(const std::string& text, Trial& trial);

/// A failure without what can be looked up again: one line of JSON, and back.
std::string failure_line(const finding::Failure& failure);
bool read_failure(const std::string& text, finding::Failure& failure);

}  // namespace duress::classify
