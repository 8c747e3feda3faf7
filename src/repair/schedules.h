// SPDX-License-Identifier: Apache-2.0
//
// What random schedules of a program show: for programs with more interleavings than can be explored. It is
// how a fix for such a program is checked, and no proof.
#pragma once

#include <atomic>
#include <vector>

#include "exec/campaign_setup.h"
#include "finding/names.h"
#include "verify/verifier.h"

namespace duress::repair {

struct Schedules {
  bool done = false;  // all were run; else nothing may be concluded
  u64 runs = 0, failed = 0;
  std::vector<verify::RacyExecution> racy;  // each pair of places once; no plan, no keys
};

/// Runs `runs` schedules, half of them with random switches and half with random priorities, all with a
/// detector of races. `stops_at_first`: a race or a failure ends them.
Schedules run_schedules(const exec::CampaignSetup& setup, u64 seed, u64 runs, bool stops_at_first,
                        finding::Names& names, const std::atomic<bool>& stop);

/// How many to run of a program whose executions have that many steps: the same on every machine.
u64 schedules_for(u64 steps);

}  // namespace duress::repair
