// SPDX-License-Identifier: Apache-2.0
//
// The memory models by number and name: what requests, tokens and options call them. What each of them does
// is in stale_model.h, future_values.h and rc11_model.h; under `sc` a load returns what memory holds.
#ifndef DURESS_MEMORY_MODEL_H_
#define DURESS_MEMORY_MODEL_H_

#include "base/types.h"
#include "event/memory_models.h"

namespace duress::memory {

/// The number of a name. False: no model has it.
bool model_named(const char* name, ModelId* id);

}  // namespace duress::memory

#endif  // DURESS_MEMORY_MODEL_H_
