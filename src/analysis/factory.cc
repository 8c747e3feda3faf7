// SPDX-License-Identifier: Apache-2.0
//
// The registry: from a name in a chain to the analysis. The table makes it all.
#include <string.h>

#include "analysis/chain.h"
#include "catalog/analyses.h"

namespace duress {

#define DURESS_ANALYSIS(identifier, name, description) Analysis* make_##identifier(const AnalysisContext&);
DURESS_ANALYSES(DURESS_ANALYSIS)
#undef DURESS_ANALYSIS

Analysis* make_analysis(void* context, const char* name, size_t length) {
  const auto& parts = *static_cast<const AnalysisContext*>(context);
  auto is = [&](const char* n) { return strlen(n) == length && memcmp(n, name, length) == 0; };
#define DURESS_ANALYSIS(identifier, its_name, description) \
  if (is(its_name)) return make_##identifier(parts);
  DURESS_ANALYSES(DURESS_ANALYSIS)
#undef DURESS_ANALYSIS
  return nullptr;
}

}  // namespace duress
