// SPDX-License-Identifier: Apache-2.0
#include "memory/model.h"

#include <string.h>

namespace duress::memory {

bool model_named(const char* name, ModelId* id) {
#define DURESS_MODEL(identifier, text, description) \
  if (strcmp(name, text) == 0) {                    \
    *id = ModelId::identifier;                      \
    return true;                                    \
  }
  DURESS_MODELS(DURESS_MODEL)
#undef DURESS_MODEL
  return false;
}

}  // namespace duress::memory
