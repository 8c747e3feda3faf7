// SPDX-License-Identifier: Apache-2.0
//
// The table of strategies. A line here gives a strategy its name on the command line, in `duress list` and in
// help, and its number in requests; src/sched/strategy_table.cc finds the object by the identifier.
#pragma once

#include "catalog/table.h"

// DURESS_STRATEGY(identifier, name, description): DURESS_DEFINE_STRATEGY(identifier, object) defines it. The
// position is the number in requests: add at the end.
#define DURESS_STRATEGIES(DURESS_STRATEGY)                                                                   \
  DURESS_STRATEGY(Replay, "replay", "follow a trail; where it says nothing, let the running thread run")     \
  DURESS_STRATEGY(Random, "random", "any thread that can run, with equal probability")                       \
  DURESS_STRATEGY(Pct, "pct", "random priorities, lowered at --depth minus 1 random steps (Cuzz)")           \
  DURESS_STRATEGY(Pos, "pos", "random priorities for operations, new ones after a conflict")                 \
  DURESS_STRATEGY(Racefuzzer, "racefuzzer", "bring two racing accesses together, then order them by a coin") \
  DURESS_STRATEGY(RoundRobin, "round-robin", "each thread in turn for a few steps")                          \
  DURESS_STRATEGY(Exhaustive, "exhaustive", "every interleaving up to equivalence, each once (verify)")      \
  DURESS_STRATEGY(Places, "places", "random priorities for places in the program, whoever comes there")      \
  DURESS_STRATEGY(Turns, "turns", "threads take turns at random places of the program")                      \
  DURESS_STRATEGY(Guided, "guided", "few preemptions, continued where a run has shown something new")

namespace duress {
DURESS_CATALOG(StrategyId, DURESS_STRATEGIES)
}  // namespace duress
