// SPDX-License-Identifier: Apache-2.0
//
// What is remembered of every thread that ever ran, for reports: name, creator, where it was created;
// and which thread had a vector-clock slot at a given counter.
#pragma once

#include "clock/vector_clock.h"

namespace duress {

struct ThreadInfo {
  u32 parent;
  StackId created_at;
  Clock first;  // its first counter in its slot
  u32 before;   // thread that had the slot before, or ~0
  Slot slot;
  bool logged;
  char name[16];
  uptr stack_begin, stack_end;
  u64 path;  // systematic executions: see trail/strand_path.h
};

/// Threads: adding under Runtime's lock; reading any time.
class ThreadTable {
 public:
  static constexpr u32 kMost = 1u << 22;

  ThreadTable();

  Tid add(Tid parent, StackId created_at, Slot slot, Clock first);
  ThreadInfo& operator[](Tid tid) { return infos_[raw(tid)]; }
  /// Who had the slot when its counter was `clock`.
  Tid owner(Slot slot, Clock clock) const;
  u32 count() const { return count_; }

 private:
  ThreadInfo* infos_;  // address space for all, pages for those that ran
  u32* last_;          // by slot: the last thread in it
  u32 count_ = 0;
};

}  // namespace duress
