// SPDX-License-Identifier: Apache-2.0
//
// The vector clocks of duress::check's strands (RaceWatch::kClocks), and the races that FastTrack finds with
// them.
#pragma once

#include "check/races.h"
#include "sched/scheduler.h"

namespace duress {

/// Called with the frame of duress::check's caller, when it begins.
void clocks_check_begins(uptr caller_frame);
/// False: there is no memory for clocks.
bool clocks_enable();
void clocks_execution_begins();
void clocks_execution_ends();

// ---- strands of the pool
void clocks_created(sched::Strand* creator, sched::Strand* child);
void clocks_starts(sched::Strand* strand);
void clocks_ends(sched::Strand* strand);
void clocks_joined(sched::Strand* child);
/// Of the last execution; null: none.
sched::Strand* clocks_strand_of(Tid thread);

}  // namespace duress
