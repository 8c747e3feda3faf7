// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_table.h"

#include "base/check.h"

namespace duress {

static constexpr u32 kNobody = ~0u;

ThreadTable::ThreadTable() {
  infos_ = static_cast<ThreadInfo*>(map_memory(kMost * sizeof(ThreadInfo)));
  last_ = static_cast<u32*>(map_memory(65536 * sizeof(u32)));
  if (!infos_ || !last_) fatal("out of memory for the table of threads");
}

Tid ThreadTable::add(Tid parent, StackId created_at, Slot slot, Clock first) {
  DURESS_CHECK(count_ < kMost);
  ThreadInfo& info = infos_[count_];
  u32 before = last_[raw(slot)];  // stored plus one, so that fresh pages mean nobody
  info = {raw(parent), created_at, first, before ? before - 1 : kNobody, slot, false, {}, 0, 0, 0};
  last_[raw(slot)] = count_ + 1;
  return static_cast<Tid>(count_++);
}

Tid ThreadTable::owner(Slot slot, Clock clock) const {
  u32 i = last_[raw(slot)] - 1;
  while (infos_[i].first > clock && infos_[i].before != kNobody) i = infos_[i].before;
  return static_cast<Tid>(i);
}

}  // namespace duress
