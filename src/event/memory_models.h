// SPDX-License-Identifier: Apache-2.0
//
// The tables of memory models and of heuristics that choose among the values a model allows: one line for
// each, and it has its name in `duress list` and in help. The order is the number in requests: add at the
// end. Host and target include it.
#ifndef DURESS_EVENT_MEMORY_MODELS_H_
#define DURESS_EVENT_MEMORY_MODELS_H_

#include "base/types.h"

// DURESS_MODEL(identifier, name, description)
#define DURESS_MODELS(DURESS_MODEL)                                                                     \
  DURESS_MODEL(kSc, "sc", "sequentially consistent: a load returns the last write")                     \
  DURESS_MODEL(kStale, "stale", "a racing load may return an older write that is still visible to it")  \
  DURESS_MODEL(kFuture, "future", "a racing load may return a write that comes later, if it then does") \
  DURESS_MODEL(kBoth, "both", "stale and future values in one run")                                     \
  DURESS_MODEL(kRc11, "rc11", "atomic loads may return older writes, as C++20 allows (RC11)")

// DURESS_HEURISTIC(identifier, name, description)
#define DURESS_HEURISTICS(DURESS_HEURISTIC)                                                             \
  DURESS_HEURISTIC(kSequentiallyConsistent, "SequentiallyConsistent", "the newest value: the baseline") \
  DURESS_HEURISTIC(kOldest, "Oldest", "the oldest visible value")                                       \
  DURESS_HEURISTIC(kOldestButDifferent, "OldestButDifferent",                                           \
                   "the oldest visible value other than the last one read there")                       \
  DURESS_HEURISTIC(kRandom, "Random", "any visible value, with equal probability")                      \
  DURESS_HEURISTIC(kRandomButDifferent, "RandomButDifferent",                                           \
                   "any visible value other than the last one read there, with equal probability")

namespace duress {

enum class ModelId : u32 {
#define DURESS_MODEL(identifier, name, description) identifier,
  DURESS_MODELS(DURESS_MODEL)
#undef DURESS_MODEL
};

enum class HeuristicId : u32 {
#define DURESS_HEURISTIC(identifier, name, description) identifier,
  DURESS_HEURISTICS(DURESS_HEURISTIC)
#undef DURESS_HEURISTIC
};

}  // namespace duress

#endif  // DURESS_EVENT_MEMORY_MODELS_H_
