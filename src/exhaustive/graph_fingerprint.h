// SPDX-License-Identifier: Apache-2.0
//
// A hash of the execution graph of an interleaving under rc11: reads-from, modification orders, the order of
// operations on every other shared object, and whom signals woke. Several interleavings can have the same
// graph; exploring interleavings under rc11 counts each graph once.
#pragma once

#include "base/arena.h"
#include "exhaustive/execution_trace.h"

namespace duress::exhaustive {

class GraphFingerprint {
 public:
  explicit GraphFingerprint(Arena& arena) : events_(arena), objects_(arena) {}

  /// The fingerprint of the steps of one execution, in the order of its log.
  u64 of(const Step* steps, u32 count);

 private:
  static constexpr u32 kNobody = ~0u;
  struct Event {
    u64 name;    // strand and index
    u64 about;   // hash of what it comes after
    u32 before;  // of an atomic store: its predecessor in modification order
    bool wrote;
  };
  struct Object {
    u64 address;
    u32 size;
    u32 newest;   // in modification order; of other objects the last writer
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
