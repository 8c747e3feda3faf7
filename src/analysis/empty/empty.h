// SPDX-License-Identifier: Apache-2.0
//
// Empty does nothing: running under it shows what delivering events costs.
#ifndef DURESS_ANALYSIS_EMPTY_EMPTY_H_
#define DURESS_ANALYSIS_EMPTY_EMPTY_H_

#include "analysis/analysis.h"

namespace duress {

class Empty final : public Analysis {
 public:
  const char* name() const override { return "Empty"; }
  Pass access(AnalysisThread&, const Access&) override { return Pass::kForward; }
};

}  // namespace duress

#endif  // DURESS_ANALYSIS_EMPTY_EMPTY_H_
