// SPDX-License-Identifier: Apache-2.0
//
// The strands that can run: those that are ready, among which the strategy chooses, and those that spin,
// which run only when no strand is ready. A strand is in at most one of the lists.
#pragma once

#include "base/arena.h"
#include "sched/strand.h"

namespace duress::sched {

class RunQueue {
 public:
  /// Makes room for this many strands.
  void reserve(u32 strands, Arena& arena);
  u32 capacity() const { return capacity_; }
  /// Empties both lists.
  void clear() { ready_count_ = spinning_count_ = 0; }

  u32 ready_count() const { return ready_count_; }
  Strand* const* ready() const { return ready_; }
  /// In no particular but a deterministic order.
  void add_ready(Strand* s) {
    s->list_index = ready_count_;
    ready_[ready_count_++] = s;
  }
  void remove_ready(Strand* s) {
    Strand* last = ready_[--ready_count_];
    ready_[s->list_index] = last;
    last->list_index = s->list_index;
  }
  bool is_only_ready(const Strand* s) const { return ready_count_ == 1 && ready_[0] == s; }
  Strand* lowest_ready() const;

  u32 spinning_count() const { return spinning_count_; }
  Strand* spinning(u32 index) const { return spinning_[index]; }
  /// From ready to the end of the spinning list.
  void step_back(Strand* s) {
    remove_ready(s);
    add_spinning(s);
  }
  /// From spinning to ready.
  void step_forward(Strand* s) {
    remove_spinning(s);
    add_ready(s);
  }
  /// The first one that spins goes to the end: they take turns.
  void rotate_spinning() {
    Strand* first = spinning_[0];
    remove_spinning(first);
    add_spinning(first);
  }
  /// Something has changed: all that spin are ready, except those that were preempted.
  void release_spinning();

 private:
  void add_spinning(Strand* s) {
    s->stepping_back = true;
    s->list_index = spinning_count_;
    spinning_[spinning_count_++] = s;
  }
  void remove_spinning(Strand* s);

  Strand** ready_ = nullptr;
  Strand** spinning_ = nullptr;
  u32 ready_count_ = 0, spinning_count_ = 0, capacity_ = 0;
};

}  // namespace duress::sched
