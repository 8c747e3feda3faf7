// SPDX-License-Identifier: Apache-2.0
//
// What a campaign knows of one racing variable: where it races, its trials, the witness, the verdict.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "classify/trial.h"

namespace duress::classify {

using KeyPair = std::pair<u32, u32>;  // keys of sites, the lower first
/// Trials in order of their numbers; nothing where one was not run, because time was over.
using TrialList = std::vector<std::optional<Trial>>;

/// How often an attack made the program fail.
struct Rate {
  Attack attack;
  u64 failed = 0, runs = 0;
  u64 discarded = 0;  // not in `runs`: a value of the future was never stored
};

/// An execution that fails, made small.
struct Witness {
  Attack by;
  u64 trial = 0;
  bool accepted = false;  // it came again, and needs what it is said to need
  finding::Failure failure;
  u64 output = 0;   // hash of what it printed, if that is the failure
  exec::Plan plan;  // with the predictions that are needed
  exec::Trail trail;
  u64 switches = 0, values = 0;           // preemptions; replaced values
  std::vector<trail::Replaced> replaced;  // the first of them
  u64 replayed = 0, replays = 0;
  u64 executions = 0;                     // that were spent on it
  std::vector<std::string> interleaving;  // lines that show it, a column per thread
};

/// A schedule that fails with sequentially consistent memory, run again with other legal values for the loads
/// of the variable: the same choices of threads, as if its racing accesses had come in another order.
struct ReorderedSchedule {
  Attack by;       // whose schedule it is
  u64 number = 0;  // of the trial
  std::string failure;
  u64 runs = 0;        // in which at least one load returned another value
  u64 passed = 0;      // of these
  u64 executions = 0;  // that were spent on it
  void take(const Trial& trial) {
    bool replaced = trial.stale_loads + trial.future_loads != 0;
    runs += trial.ran() && replaced;
    passed += trial.passed() && replaced;
  }
};

/// What is run to find out whether a failure of the schedule alone is the race's doing: more trials than the
/// budget has, until the rates differ by more than chance. Trial i has the number kFirstExtra + i.
struct ChargeTrials {
  static constexpr u64 kFirstExtra = u64{1} << 32;  // no budget gets there
  TrialList sc, no_switch;
  TrialList few_preemptions;  // numbered from 0; if no schedule of the budget passes with other values
  std::vector<std::pair<Attack, TrialList>> by;
  std::vector<ReorderedSchedule> reordered;
};

using finding::VerdictKind;

struct Variable {
  std::string name;
  std::set<u32> sites;  // keys
  std::set<KeyPair> pairs;
  std::set<KeyPair> confirmed_pairs;               // racefuzzer brought both accesses to the same moment
  std::map<std::string, std::set<KeyPair>> races;  // by finding::group_key
  bool freed = false;                              // one of the racing accesses is a free
  /// Its values cannot be replaced: an access is in code that another compiler built with -fsanitize=thread.
  bool fixed_values = false;
  bool only_one = false;  // no other variable races

  u64 confirm_runs = 0;                          // trials of racefuzzer that tried to
  TrialList sc;                                  // the baseline
  std::vector<std::pair<Attack, TrialList>> by;  // in the order of the attacks
  TrialList no_switch_runs;   // baseline without a switch at the racing accesses; if the schedule alone fails
  TrialList extra_schedules;  // further schedules, to see which outputs are normal
  ChargeTrials charge;        // if the schedule alone fails
  std::set<std::string>
      program_failures;  // ids of what comes with sequentially consistent memory, whichever races
  std::vector<std::string>
      other_causes;                // variables that explain the failures that this one is not charged with
  u64 most_steps = 0;              // that an attack may take; 0: not known yet
  u64 usual_steps = 0;             // the most that sequentially consistent memory took in the first stage
  std::vector<Witness> witnesses;  // looked at so far; the last may be accepted
  bool decided = false;            // every attack had its trials and no failure is left to examine

  const Witness* witness() const {
    return !witnesses.empty() && witnesses.back().accepted ? &witnesses.back() : nullptr;
  }
};

}  // namespace duress::classify
