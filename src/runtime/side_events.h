// SPDX-License-Identifier: Apache-2.0
//
// Writes side events (trail/side_events.h) to the record.
#pragma once

#include "trail/side_events.h"

namespace duress {

/// Records an event with the stack above `caller`, a return address; each event once. False: the list is
/// full.
bool record_side_event(trail::SideEvent::Kind kind, u64 joined, u64 joiner, uptr caller);
/// The program has read a clock.
void record_clock_read(uptr caller);

}  // namespace duress
