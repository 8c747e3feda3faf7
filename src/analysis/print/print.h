// SPDX-License-Identifier: Apache-2.0
//
// Print shows every event that reaches it, as it comes.
#ifndef DURESS_ANALYSIS_PRINT_PRINT_H_
#define DURESS_ANALYSIS_PRINT_PRINT_H_

#include "analysis/analysis.h"

namespace duress {

class Print final : public Analysis {
 public:
  Print(Arena& arena, LineSink& out) : arena_(arena), out_(out) {}

  const char* name() const override { return "Print"; }
  Pass access(AnalysisThread& thread, const Access& access) override;
  void sync(AnalysisThread& thread, const Sync& sync) override;

 private:
  Arena& arena_;
  LineSink& out_;
};

}  // namespace duress

#endif  // DURESS_ANALYSIS_PRINT_PRINT_H_
