// SPDX-License-Identifier: Apache-2.0
//
// What an execution under a memory model is, whatever interleaving it came by: which store each atomic read,
// the modification orders, the order at everything else that threads meet at, and whom signals woke. One
// number stands for it. Exploring by interleavings comes to some executions several times; they are counted
// once by this.
#ifndef DURESS_EXHAUSTIVE_GRAPH_FINGERPRINT_H_
#define DURESS_EXHAUSTIVE_GRAPH_FINGERPRINT_H_

#include "base/arena.h"
#include "exhaustive/execution_trace.h"

namespace duress::exhaustive {

class GraphFingerprint {
 public:
  explicit GraphFingerprint(Arena& arena) : events_(arena), objects_(arena) {}

  /// Of the steps of one execution, as its log has them.
  u64 of(const Step* steps, u32 count);

 private:
  static constexpr u32 kNobody = ~0u;
  struct Event {
    u64 name;    // strand and number
    u64 about;   // what it came after, so far
    u32 before;  // of an atomic that wrote: the store before it in modification order
    bool wrote;
  };
  struct Object {
    u64 address;
    u32 size;
    u32 newest;   // in modification order, or the last that wrote
    u64 writer;   // its name
    u64 readers;  // since then; a sum
  };
  u32 object(const Touch& touch);
  void atomic(const Step& step, u32 n);
  void other(const Touch& touch, u32 n);

  List<Event> events_;
  List<Object> objects_;
};

}  // namespace duress::exhaustive

#endif  // DURESS_EXHAUSTIVE_GRAPH_FINGERPRINT_H_
