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
    if (order.empty()) return;  // no seq_cst anywhere: all sets stay empty
    fences = order.fences_known_to(clock);
    settled_fence = order.settled_fence_known_to(clock);
    operations = order.operations_before(clock);
    before[0] = order.look(location.preceding_all);
    for (u32 i = 0; i < count; ++i) {
      AtomicStore& s = location[i];
      reading[i] = before[i] | order.look(s.preceding);
      before[i + 1] = reading[i] | order.look(s.by_readers);
    }
    for (u32 i = count; i-- > floor + 1;) {
      AtomicStore& s = location[i];
      after[i] = after[i + 1];
      after[i].nodes |= order.look(s.following);
      after[i].settled |= s.following.settled;
      order.add_fences_after(s.slot, s.epoch, after[i]);
      for (u32 k = 0; k < s.readers.size(); ++k) {
        if (Clock first = s.readers.data()[k]) order.add_fences_after(static_cast<Slot>(k), first, after[i]);
      }
    }
  }

  /// What precedes the event in S by what it reads or follows.
  ScOrder::Nodes met(u32 i, bool writes) const { return writes ? before[i + 1] : reading[i]; }

  ThreadClock& who;
  Slot slot;
  Clock epoch;
  AtomicLocation& location;
  u32 floor;
  ScOrder::Nodes fences = 0;      // that happen before it
  bool settled_fence = false;     // and settled ones
  ScOrder::Nodes operations = 0;  // that precede it if it is seq_cst
  static constexpr u32 kMost = AtomicLocation::kMostStores;
  ScOrder::Nodes before[kMost + 1] = {};  // [i]: preceding whatever follows store i-1
  ScOrder::Nodes reading[kMost] = {};     // [i]: preceding whatever reads store i
  ScOrder::After after[kMost + 2] = {};   // [i]: following whatever comes before store i. From floor + 1 on
};

inline bool is_seq_cst(MemoryOrder order) {
  return order == MemoryOrder::kSeqCst;
}

}  // namespace duress::memory
