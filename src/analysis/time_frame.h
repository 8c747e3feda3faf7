// SPDX-License-Identifier: Apache-2.0
//
// DJIT+'s rule, which MultiRace uses too: with the clocks that the engine keeps for threads (thread_clock.h),
// only the first access of its class in a time frame, the stretch between two releases of a thread, is
// compared with the earlier accesses of a location.
#pragma once

#include "analysis/marks.h"
#include "clock/thread_clock.h"

namespace duress {

/// An access, and the time frame it is in.
struct FramedAccess {
  FramedAccess(AnalysisThread& thread, const Access& access)
      : frame((thread.clock->tick_if_released(), thread.clock->own())),
        slot(thread.clock->slot()),
        kind(class_of(access.kind)),
        known(thread.clock->clock()),
        note(AccessNote::of(thread, access)) {}

  Clock frame;
  Slot slot;
  AccessClass kind;
  const VectorClock& known;
  AccessNote note;
};

struct FrameCheck {
  bool first = false;  // in its time frame; otherwise nothing was compared
  bool grown = false;  // memory was taken for a clock
  bool raced = false;
  AccessNote earlier;  // if raced
};

inline FrameCheck check_frame(Arena& arena, LocationMarks& marks, const FramedAccess& access) {
  FrameCheck result;
  Marks& own = marks.of[static_cast<int>(access.kind)];
  if (own.get(access.slot) == access.frame) return result;
  result.first = true;
  if (const AccessNote* earlier = marks.racing(access.kind, access.known)) {
    result.raced = true;
    result.earlier = *earlier;
  }
  result.grown = own.set(arena, access.slot, access.frame, access.note);
  return result;
}

}  // namespace duress
