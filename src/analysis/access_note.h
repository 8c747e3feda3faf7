// SPDX-License-Identifier: Apache-2.0
//
// Who accessed a location, and where: what an analysis remembers to name the earlier side of a finding.
#pragma once

#include "analysis/analysis.h"

namespace duress {

struct AccessNote {
  Place place = {};
  Tid thread{};
  LockSetId locks{};
  AccessKind kind{};

  static AccessNote of(const AnalysisThread& thread, const Access& access) {
    return {access.place, thread.tid, thread.locks ? *thread.locks : LockSetId{0}, access.kind};
  }
  RaceSide side() const { return {kind, place, RaceSide::kByThread, raw(thread), locks}; }
};

/// May two accesses race: one writes, and not both are atomic.
constexpr bool can_race(AccessKind a, AccessKind b) {
  return (is_write(a) || is_write(b)) && !(is_atomic(a) && is_atomic(b));
}

}  // namespace duress
