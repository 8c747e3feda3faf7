// SPDX-License-Identifier: Apache-2.0
//
// What `duress classify` says of a race, in the words of reports: names instead of the tables' numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "finding/failure.h"
#include "finding/verdict.h"

namespace duress::report {

/// A memory model, and what chooses values and threads.
struct AttackName {
  std::string model;      // "sc", "stale", ...
  std::string strategy;   // "": threads at random
  std::string heuristic;  // which value a load gets
  std::string policy;     // which value of the future; "": none
  std::string label;      // all of it in one word
  bool fair = true;       // a load is not stale for ever
  bool by_schedule() const { return model == "sc"; }
};

/// How often an attack made the program fail.
struct AttackRate {
  AttackName attack;
  std::uint64_t failed = 0, runs = 0;
  std::uint64_t discarded = 0;  // not in `runs`
};

/// The first value that an execution replaced.
struct ReplacedValue {
  std::uint32_t thread = 0;
  bool future = false;  // else stale
  std::string read, newest;
};

/// The execution that shows the harm, made small.
struct WitnessEntry {
  AttackName by;
  finding::Failure failure;
  std::optional<ReplacedValue> replaced;
  std::uint64_t switches = 0, values = 0;  // preemptions; replaced values
  std::uint64_t replayed = 0, replays = 0;
  std::string token;                      // or "@FILE"
  std::vector<std::string> interleaving;  // lines, a column per thread
};

struct Slowdown {
  AttackName by;
  double times = 0;
};

struct Judgement {
  finding::VerdictKind kind = finding::VerdictKind::kOpen;
  bool attacked = false;         // else nothing below is known: the race was only found
  bool confirmed = false;        // its two accesses were brought together
  std::uint64_t runs = 0;        // that could have failed
  std::uint64_t unexamined = 0;  // failing runs that were not looked at yet
  std::vector<AttackRate> rates;
  AttackRate rate;  // of the attack that the witness is from
  AttackRate counterfactual;
  finding::ChargeReason charge = finding::ChargeReason::kNone;
  AttackRate charged;  // how often the failure comes with what it is charged to; `counterfactual`: without
  std::string other_failure;              // not charged to this race, which is therefore not judged; "": none
  std::vector<std::string> other_causes;  // variables whose races explain it
  std::uint64_t sc_failed = 0, sc_runs = 0;  // with sequentially consistent memory
  bool output_settled = true;                // else the output differs from schedule to schedule
  std::optional<Slowdown> slower;
  std::optional<WitnessEntry> witness;
  std::optional<finding::Figures> figures;  // if they were asked for

  bool destructive() const { return kind == finding::VerdictKind::kDestructive; }
};

}  // namespace duress::report
