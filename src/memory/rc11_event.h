// SPDX-License-Identifier: Apache-2.0
//
// How an event of order S or of modification order is checked. Let e be the event, reading or following store
// i. What e is coherence-ordered after are the stores up to i and the readers of those before i (of all up to
// i, if e writes); what it is coherence-ordered before are the stores after i and their readers. S wants the
// nodes of the former, those that happen before e among them fences, and e itself, in that order before the
// nodes of the latter. In docs/models/rc11.md this is worked out.
#pragma once

#include "memory/rc11_model.h"

namespace duress::memory {

/// An operation about to be performed, and what order S says about each store that it could read or follow.
struct Rc11Model::Event {
  Event(const ScOrder& order, ThreadClock& thread, AtomicLocation& where)
      : who(thread), slot(thread.slot()), epoch(thread.own()), location(where) {
    u32 count = location.count();
    const VectorClock& clock = who.clock();
    floor = location.floor(clock);
    clipped = count - floor > kMost;
    if (clipped) floor = count - kMost;
    if (order.empty()) return;  // no seq_cst anywhere: all sets stay empty
    fences = order.fences_known_to(clock);
    settled_fence = order.settled_fence_known_to(clock);
    operations = order.operations_before(clock);
    ScOrder::Nodes so_far = order.look(location.preceding_all);
    for (u32 i = 0; i < count; ++i) {
      AtomicStore& s = location[i];
      so_far |= order.look(s.preceding);
      if (i >= floor) reading_[i - floor] = so_far;
      so_far |= order.look(s.by_readers);
      if (i >= floor) before_[i - floor] = so_far;
    }
    for (u32 i = count; i-- > floor + 1;) {
      AtomicStore& s = location[i];
      ScOrder::After& mine = after_[i - floor];
      mine = after_[i - floor + 1];
      mine.nodes |= order.look(s.following);
      mine.settled |= s.following.settled;
      order.add_fences_after(s.slot, s.epoch, mine);
      for (u32 k = 0; k < s.readers.size(); ++k) {
        if (Clock first = s.readers.data()[k]) order.add_fences_after(static_cast<Slot>(k), first, mine);
      }
    }
  }

  /// What precedes the event in S by what it reads or follows.
  ScOrder::Nodes met(u32 i, bool writes) const { return writes ? before_[i - floor] : reading_[i - floor]; }
  /// What follows in S whatever comes before store i. REQUIRES: i > floor.
  const ScOrder::After& after(u32 i) const { return after_[i - floor]; }

  ThreadClock& who;
  Slot slot;
  Clock epoch;
  AtomicLocation& location;
  u32 floor;
  ScOrder::Nodes fences = 0;      // that happen before it
  bool settled_fence = false;     // and settled ones
  ScOrder::Nodes operations = 0;  // that precede it if it is seq_cst
  bool clipped = false;           // there are older stores that happens-before would leave

 private:
  static constexpr u32 kMost = AtomicLocation::kMostOffered;
  // From the floor on, [i - floor] of store i.
  ScOrder::Nodes before_[kMost] = {};     // preceding whatever follows store i
  ScOrder::Nodes reading_[kMost] = {};    // preceding whatever reads it
  ScOrder::After after_[kMost + 1] = {};  // following whatever comes before it
};

inline bool is_seq_cst(MemoryOrder order) {
  return order == MemoryOrder::kSeqCst;
}

}  // namespace duress::memory
