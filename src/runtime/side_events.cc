// SPDX-License-Identifier: Apache-2.0
#include "runtime/side_events.h"

#include "runtime/control.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"

namespace duress {

using Kind = trail::SideEvent::Kind;

bool record_side_event(trail::SideEvent event, uptr caller) {
  trail::Record& record = scheduler().record();
  if (record.side_event_count == trail::kMostSideEvents) return false;
  Uncontrolled here;
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
  if (!record_side_event({.kind = Kind::kClockRead}, caller)) scheduler().note_clock();
}

void record_limit(u32 limits, const Operation& operation) {
  record_side_event({.kind = Kind::kLimited, .limits = limits, .object = operation.object},
                    is_access(operation.kind) ? t_hook_caller : operation.place);
}

}  // namespace duress
