// SPDX-License-Identifier: Apache-2.0
//
// The table of strategies: one line for each, and it has its name on the command line, in `duress list`, in
// requests and in help. Included by the host too.
#ifndef DURESS_EVENT_STRATEGIES_H_
#define DURESS_EVENT_STRATEGIES_H_

#include "base/types.h"

// DURESS_STRATEGY(identifier, name, description). The order is the number in requests: add at the end.
#define DURESS_STRATEGIES(DURESS_STRATEGY)                                                                \
  DURESS_STRATEGY(kReplay, "replay", "follow a trail; where it says nothing, let the running thread run") \
  DURESS_STRATEGY(kRandom, "random", "any thread that can run, with equal probability")                   \
  DURESS_STRATEGY(kPct, "pct", "random priorities, lowered at --depth minus 1 random steps (Cuzz)")       \
  DURESS_STRATEGY(kPos, "pos", "random priorities for operations, new ones after a conflict")             \
  DURESS_STRATEGY(kRacefuzzer, "racefuzzer",                                                              \
                  "bring two racing accesses together, then order them by a coin")                        \
  DURESS_STRATEGY(kRoundRobin, "round-robin", "each thread in turn for a few steps")                      \
  DURESS_STRATEGY(kExhaustive, "exhaustive", "every interleaving up to equivalence, each once (verify)")

namespace duress {

enum class StrategyId : u32 {
#define DURESS_STRATEGY(identifier, name, description) identifier,
  DURESS_STRATEGIES(DURESS_STRATEGY)
#undef DURESS_STRATEGY
};

}  // namespace duress

#endif  // DURESS_EVENT_STRATEGIES_H_
