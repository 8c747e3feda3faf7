// SPDX-License-Identifier: Apache-2.0
//
// Empty does nothing: running under it measures what delivering the events costs.
#include "analysis/analysis.h"

namespace duress {
namespace {

class Empty final : public Analysis {
 public:
  const char* name() const override { return "Empty"; }
  Pass access(AnalysisThread&, const Access&) override { return Pass::kForward; }
};

}  // namespace

DURESS_DEFINE_ANALYSIS(Empty);

}  // namespace duress
