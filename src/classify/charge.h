// SPDX-License-Identifier: Apache-2.0
//
// Whose fault is it? A program may fail under some schedule for another reason than the race that is looked
// at: another race, locks in the wrong order. No execution happens here.
//
// A failure of the schedule alone is charged to a race on two kinds of evidence, both of which can fail:
// (a) It comes less often without what it is charged to (a preemption at the racing accesses, or the values
// that the
//     racing loads returned), and chance does not explain the difference.
// (b) A schedule that fails passes if only the racing loads of this variable return other legal values: what
// they
//     would have returned had its accesses come in another order. Every other race stays as it is: its memory
//     is sequentially consistent, and no thread is preempted at its accesses in the trials of this variable.
// Neither is enough: a preemption anywhere changes rates, which (b) is not fooled by; and a value that sends
// a thread another way changes the schedule, which (a) is not fooled by.
#pragma once

#include "classify/fisher.h"
#include "classify/variable.h"

namespace duress::classify {

/// Failures that count as the same one.
bool same_failure(const finding::Failure& a, const finding::Failure& b);

/// The attack gives loads other values than memory holds.
bool by_values(const Attack& attack);

/// Why a failure of the schedule alone is charged to the race, if it is.
struct Charge {
  using Reason = finding::ChargeReason;
  Reason reason = Reason::kNone;
  Rate with, without;  // how often the failure comes with and without what it is charged to
  double chance = 1;   // of such a difference, if it were none
};
/// The greatest chance that is evidence, divided by the number of comparisons that are made.
inline constexpr double kMostChance = 0.001;
Charge charge_of(const Variable& variable, const finding::Failure& failure);

/// The failures of sequentially consistent memory, each once.
std::vector<finding::Failure> schedule_failures(const Variable& variable);

/// The fair attack by values that mends most failures of the schedule; nothing if none was run.
std::optional<Attack> most_mending(const Variable& variable, const finding::Failure& failure);

/// A failing trial whose schedule was not run with other values yet.
struct FailingTrial {
  Attack by;
  u64 number;
  finding::Failure failure;
};
/// Of each failure so many schedules are run with other values, and as many with few preemptions: if none
/// passes, the values do not matter.
inline constexpr u64 kMostReordered = 20;
std::vector<FailingTrial> to_reorder(const Variable& variable);
/// Some failure passes in no schedule that was run with other values so far.
bool needs_few_preemptions(const Variable& variable);

/// Whether more trials could still charge the failure to the race.
bool worth_more(const Variable& variable, const finding::Failure& failure);

/// Whether an attack by values makes the failure come more often than sequentially consistent memory does, by
/// more than chance.
bool more_often(const Variable& variable, const Attack& attack, const finding::Failure& failure);

}  // namespace duress::classify
