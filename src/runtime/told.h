// SPDX-License-Identifier: Apache-2.0
//
// What an execution by steps tells the host beside its steps: trail/told.h.
#ifndef DURESS_RUNTIME_TOLD_H_
#define DURESS_RUNTIME_TOLD_H_

#include "trail/told.h"

namespace duress {

/// In the calls from which `caller` is returned to. False: there is no room.
bool tell(trail::Told what, u64 first, u64 second, uptr caller);
/// The program has looked at a clock.
void tell_clock(uptr caller);

}  // namespace duress

#endif  // DURESS_RUNTIME_TOLD_H_
