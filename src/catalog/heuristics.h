// SPDX-License-Identifier: Apache-2.0
//
// The table of heuristics: which of the values that a memory model allows a load returns. A line here gives a
// heuristic its name in options, `duress list` and help, its number in requests, an attack of `duress
// classify` and a turn of `duress explore --model rc11`.
#pragma once

#include "catalog/table.h"

// DURESS_HEURISTIC(identifier, name, description): DURESS_DEFINE_HEURISTIC(identifier) defines it, in
// src/memory/heuristics. The position is the number in requests: add at the end.
#define DURESS_HEURISTICS(DURESS_HEURISTIC)                                                            \
  DURESS_HEURISTIC(SequentiallyConsistent, "SequentiallyConsistent", "the newest value: the baseline") \
  DURESS_HEURISTIC(Oldest, "Oldest", "the oldest visible value")                                       \
  DURESS_HEURISTIC(OldestButDifferent, "OldestButDifferent",                                           \
                   "the oldest visible value other than the last one read there")                      \
  DURESS_HEURISTIC(Random, "Random", "any visible value, with equal probability")                      \
  DURESS_HEURISTIC(RandomButDifferent, "RandomButDifferent",                                           \
                   "any visible value other than the last one read there, with equal probability")

namespace duress {
DURESS_CATALOG(HeuristicId, DURESS_HEURISTICS)
}  // namespace duress
