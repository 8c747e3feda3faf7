// SPDX-License-Identifier: Apache-2.0
//
// What an execution showed, for a search that learns: which operation read from which, as pairs of places
// ("this load has seen that store", "this lock came after that one", "this signal after that wait"), and a
// signature of all of it. Executions with equal signatures did the same up to the order of independent
// operations, so a search need not go on from both.
//
// Strands are named by the order in which they first did something, so two executions in which equal threads
// have changed roles are equal too. What repeats a read that saw the same store is not counted: a loop that
// waits looks the same however often it goes round.
//
// Only executions that ask for it (Request::observe) pay for it: about 15 ns for each operation.
#pragma once

#include "sched/strand_view.h"
#include "trail/execution.h"

namespace duress::sched {

class Observer {
 public:
  void start(bool on) {
    on_ = on;
    if (!on) return;
    ++execution_;
    signature_ = 0;
    pairs_ = objects_ = 0;
    strands_ = 0;
  }
  bool is_on() const { return on_; }
  /// The strand performs its next operation.
  void performs(StrandView& strand);
  void finish(trail::Record& record);

 private:
  // Of more objects, pairs or places, the first ones count.
  static constexpr u32 kObjects = 512, kPairs = 1024, kReads = 256;
  static_assert(trail::kMostObservedPairs < kPairs);

  /// Who was the last to change an object, or to use it if it is no memory.
  struct Object {
    uptr address;
    u32 execution;
    u32 strand, event, place;  // strand 0: nobody yet
  };
  struct Pair {
    u32 execution, hash;
  };
  struct Read {
    u32 execution;
    u32 strand, place, seen;
  };

  Object* object_of(uptr address);
  bool repeats(const StrandView& strand, u32 place, const Object& object);
  void add_pair(u32 hash);

  bool on_ = false;
  u32 execution_ = 0;
  u64 signature_ = 0;
  u32 strands_ = 0, objects_ = 0, pairs_ = 0;
  Object object_[kObjects] = {};
  Pair pair_[kPairs] = {};
  Read read_[kReads] = {};
  u32 list_[trail::kMostObservedPairs] = {};
};

}  // namespace duress::sched
