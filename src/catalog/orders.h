// SPDX-License-Identifier: Apache-2.0
//
// The table of exploration orders: which thread an execution of `duress verify` runs first where its plan
// leaves the choice open. Every order visits all interleavings; some reach a race sooner. The last four are
// Java RaceFinder's.
#pragma once

#include "catalog/table.h"

// DURESS_ORDER(identifier, name, description). The position is the number in requests: add at the end.
#define DURESS_ORDERS(DURESS_ORDER)                                                                    \
  DURESS_ORDER(RunOn, "run-on", "the running thread, as long as it can")                               \
  DURESS_ORDER(WritesFirst, "writes-first", "those who write")                                         \
  DURESS_ORDER(WatchWritten, "watch-written", "those who come to what another thread wrote last")      \
  DURESS_ORDER(AvoidRelease, "avoid-release", "those who do not acquire what another thread released") \
  DURESS_ORDER(AcquireFirst, "acquire-first", "those who acquire what no other thread has released yet")

namespace duress {
// kByGraph cannot be chosen: execution graphs need the thread with the lowest id.
DURESS_CATALOG(ExplorationOrder, DURESS_ORDERS, kByGraph)
}  // namespace duress
