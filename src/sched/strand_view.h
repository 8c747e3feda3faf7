// SPDX-License-Identifier: Apache-2.0
//
// A thread of the target as strategies see it.
#pragma once

#include "event/operation.h"

namespace duress::sched {

/// What strategies may know of a strand. The scheduler's own part is in Strand (strand.h).
struct StrandView {
  u32 number = 0;      // 0 is main; in the order of creation
  Operation next;      // the operation it performs when it is chosen
  u64 operations = 0;  // schedule points passed: tells a new operation from one seen before
  // For the strategy alone; 0 when the strand is created.
  u64 mark = 0;
  u64 mark2 = 0;
  // For the observer alone (observer.h).
  u32 order = 0;          // position among strands by their first operation, from 1
  u32 events = 0;         // that it has seen
  u32 id = 0;             // in systematic executions: the same in every interleaving (exhaustive/step_log.h)
  bool at_await = false;  // there: its next step is one of a loop that is known to wait (spin_detector.h)
};

}  // namespace duress::sched
