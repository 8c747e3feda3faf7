// SPDX-License-Identifier: Apache-2.0
//
// The table of memory models: which values a load may return. A line here gives a model its name in options,
// `duress list` and help, and its number in requests.
#pragma once

#include "catalog/table.h"

// DURESS_MODEL(identifier, name, description). The position is the number in requests: add at the end.
#define DURESS_MODELS(DURESS_MODEL)                                                                    \
  DURESS_MODEL(Sc, "sc", "sequentially consistent: a load returns the last write")                     \
  DURESS_MODEL(Stale, "stale", "a racing load may return an older write that is still visible to it")  \
  DURESS_MODEL(Future, "future", "a racing load may return a write that comes later, if it then does") \
  DURESS_MODEL(Both, "both", "stale and future values in one run")                                     \
  DURESS_MODEL(Rc11, "rc11", "atomic loads may return older writes, as C++20 allows (RC11)")

namespace duress {
DURESS_CATALOG(ModelId, DURESS_MODELS)
}  // namespace duress
