// SPDX-License-Identifier: Apache-2.0
//
// What executions by steps tell with the calls in which it happened: among the profiled entries of the
// record. Each is one entry with a Told as `strand`, then the calls, two each.
#ifndef DURESS_TRAIL_TOLD_H_
#define DURESS_TRAIL_TOLD_H_

#include "trail/execution.h"

namespace duress::trail {

enum class Told : u32 {
  kJoined = 101,  // the strand of path value[1] joined the one of path value[0]: see AsIf::kJoined
  kClock = 102,   // a clock was looked at, where timeouts are explored
};
inline constexpr u32 kToldCalls = 14;  // innermost first; 0: there are no more
inline constexpr u32 kToldEntries = 1 + kToldCalls / 2;

}  // namespace duress::trail

#endif  // DURESS_TRAIL_TOLD_H_
