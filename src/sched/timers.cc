// SPDX-License-Identifier: Apache-2.0
#include "sched/timers.h"

namespace duress::sched {

u64 Timers::read_clock(u64 changes) {
  if (clock_changes_ != changes) {
    clock_changes_ = changes;
    clock_reads_ = 0;
  }
  return now_ += clock_advance(clock_reads_++);
}

Strand* Timers::earliest(Strand* strands, Strand* alarms, bool processor_used) {
  Strand* earliest = nullptr;
  for (Strand* list : {strands, alarms}) {
    for (Strand* s = list; s; s = s->next_strand) {
      if (s->wait.deadline == kNever || (s->alarm.processor_time && !processor_used)) continue;
      if (!earliest || s->wait.deadline < earliest->wait.deadline) earliest = s;
    }
  }
  return earliest;
}

}  // namespace duress::sched
