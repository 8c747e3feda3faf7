// SPDX-License-Identifier: Apache-2.0
//
// A schedule as the strategy `guided` is given it, and where it could be continued. Both speak of what a
// strand does, not of numbers of choices: so a switch means the same when other points are added, or when
// something before it is changed.
#pragma once

#include "base/types.h"

namespace duress::trail {

/// The running strand is `strand` and comes to `place` for the `visit`-th time since the switch before: then
/// `to` runs. Each switch is waited for after the one before it has been made.
struct PlannedSwitch {
  static constexpr u32 kCannotGoOn = 0;  // as a place: it waits, has ended or only spins

  u32 strand;
  u32 place;  // sched::place_key()
  u32 visit;  // from 1
  u32 to;     // number of a strand
  bool operator==(const PlannedSwitch&) const = default;
};

/// Where an execution could have switched after its last planned switch.
struct SwitchPoint {
  u32 strand;
  u32 place;
  u32 visits;  // how often it came there
  u32 unused;
  u64 first_targets, last_targets;  // who else could run at the first and at the last visit, a bit by number
  bool operator==(const SwitchPoint&) const = default;
};
static_assert(sizeof(SwitchPoint) == 32);

}  // namespace duress::trail
