// SPDX-License-Identifier: Apache-2.0
//
// Exploration orders: which strand an execution schedules where its plan says nothing. Every order explores
// all interleavings, but may reach a race sooner. The last four are Java RaceFinder's.
#ifndef DURESS_EXHAUSTIVE_ORDER_H_
#define DURESS_EXHAUSTIVE_ORDER_H_

#include "base/types.h"

namespace duress::exhaustive {

/// DURESS_ORDER(identifier, name, whom it prefers)
#define DURESS_ORDERS(DURESS_ORDER)                                                                     \
  DURESS_ORDER(kRunOn, "run-on", "the running thread, as long as it can")                               \
  DURESS_ORDER(kWritesFirst, "writes-first", "those who write")                                         \
  DURESS_ORDER(kWatchWritten, "watch-written", "those who come to what another thread wrote last")      \
  DURESS_ORDER(kAvoidRelease, "avoid-release", "those who do not acquire what another thread released") \
  DURESS_ORDER(kAcquireFirst, "acquire-first", "those who acquire what no other thread has released yet")

enum class Order : u32 {
#define DURESS_ORDER(identifier, name, whom) identifier,
  DURESS_ORDERS(DURESS_ORDER)
#undef DURESS_ORDER
      kByGraph  // internal: GraphExplorer needs the lowest strand first
};

inline constexpr const char* kOrderNames[] = {
#define DURESS_ORDER(identifier, name, whom) name,
    DURESS_ORDERS(DURESS_ORDER)
#undef DURESS_ORDER
};

}  // namespace duress::exhaustive

#endif  // DURESS_EXHAUSTIVE_ORDER_H_
