// SPDX-License-Identifier: Apache-2.0
#include "runtime/side_events.h"

#include "runtime/control.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"

namespace duress {

bool record_side_event(trail::SideEvent::Kind kind, u64 joined, u64 joiner, uptr caller) {
  trail::Record& record = scheduler().record();
  if (record.side_event_count == trail::kMostSideEvents) return false;
  Uncontrolled here;
  trail::SideEvent event = {kind, joined, joiner, {}};
  unwind_stack(event.calls, trail::SideEvent::kMostCalls, caller);
  trail::SideEvent* list = record.side_events();
  for (u64 i = 0; i < record.side_event_count; ++i) {
    if (list[i] == event) return true;
  }
  list[record.side_event_count++] = event;
  g_runtime->modules.log_new();
  return true;
}

void record_clock_read(uptr caller) {
  if (!record_side_event(trail::SideEvent::Kind::kClockRead, 0, 0, caller)) scheduler().note_clock();
}

}  // namespace duress
