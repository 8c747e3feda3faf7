// SPDX-License-Identifier: Apache-2.0
//
// The table of exploration orders: which thread an execution of `duress verify` runs first where its plan
// leaves the choice open. Every order visits all interleavings; some reach a race sooner. The last four are
// Java RaceFinder's.
#ifndef DURESS_EVENT_EXPLORATION_ORDERS_H_
#define DURESS_EVENT_EXPLORATION_ORDERS_H_

#include "base/types.h"

/// DURESS_ORDER(identifier, name, whom it prefers). The order is the number in requests: add at the end.
#define DURESS_ORDERS(DURESS_ORDER)                                                                     \
  DURESS_ORDER(kRunOn, "run-on", "the running thread, as long as it can")                               \
  DURESS_ORDER(kWritesFirst, "writes-first", "those who write")                                         \
  DURESS_ORDER(kWatchWritten, "watch-written", "those who come to what another thread wrote last")      \
  DURESS_ORDER(kAvoidRelease, "avoid-release", "those who do not acquire what another thread released") \
  DURESS_ORDER(kAcquireFirst, "acquire-first", "those who acquire what no other thread has released yet")

namespace duress {

enum class ExplorationOrder : u32 {
#define DURESS_ORDER(identifier, name, whom) identifier,
  DURESS_ORDERS(DURESS_ORDER)
#undef DURESS_ORDER
      kByGraph  // no name for users: graph_explorer.h needs the thread with the lowest id
};

inline constexpr const char* kExplorationOrderNames[] = {
#define DURESS_ORDER(identifier, name, whom) name,
    DURESS_ORDERS(DURESS_ORDER)
#undef DURESS_ORDER
};

}  // namespace duress

#endif  // DURESS_EVENT_EXPLORATION_ORDERS_H_
