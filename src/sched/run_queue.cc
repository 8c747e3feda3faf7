// SPDX-License-Identifier: Apache-2.0
#include "sched/run_queue.h"

namespace duress::sched {

void RunQueue::reserve(u32 strands, Arena& arena) {
  if (strands <= capacity_) return;
  u32 more = capacity_ ? capacity_ * 2 : 64;
  for (Strand*** list : {&ready_, &spinning_}) {
    auto** wider = static_cast<Strand**>(arena.allocate(more * sizeof(Strand*)));
    for (u32 i = 0; i < capacity_; ++i) wider[i] = (*list)[i];
    if (capacity_) arena.free(*list, capacity_ * sizeof(Strand*));
    *list = wider;
  }
  capacity_ = more;
}

Strand* RunQueue::lowest_ready() const {
  Strand* lowest = ready_[0];
  for (u32 i = 1; i < ready_count_; ++i) {
    if (ready_[i]->number < lowest->number) lowest = ready_[i];
  }
  return lowest;
}

/// Keeps the order.
void RunQueue::remove_spinning(Strand* s) {
  for (u32 i = s->list_index + 1; i < spinning_count_; ++i) {
    spinning_[i - 1] = spinning_[i];
    spinning_[i - 1]->list_index = i - 1;
  }
  --spinning_count_;
  s->stepping_back = false;
}

void RunQueue::release_spinning() {
  u32 kept = 0;
  for (u32 i = 0; i < spinning_count_; ++i) {
    Strand* s = spinning_[i];
    if (DURESS_UNLIKELY(s->preempted)) {
      s->list_index = kept;
      spinning_[kept++] = s;
      continue;
    }
    s->stepping_back = false;
    add_ready(s);
  }
  spinning_count_ = kept;
}

}  // namespace duress::sched
