// SPDX-License-Identifier: Apache-2.0
//
// Writes side events (trail/side_events.h) to the record.
#pragma once

#include "event/operation.h"
#include "trail/side_events.h"

namespace duress {

/// Records an event, to which the stack above `caller`, a return address, is added; each event once. False:
/// the list is full.
bool record_side_event(trail::SideEvent event, uptr caller);
/// The program has read a clock.
void record_clock_read(uptr caller);
/// The execution has met a limit of its exploration (exhaustive::StepLog) at this operation.
void record_limit(u32 limits, const Operation& operation);

}  // namespace duress
