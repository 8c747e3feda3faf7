// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_PASS_LATE_STEP_H_
#define DURESS_PASS_LATE_STEP_H_

#include "llvm/IR/PassManager.h"
#include "pass/unit.h"

namespace duress::pass {

/// After optimisation: makes the checked bodies, joins the three of each function, emits the tables.
class LateStep : public llvm::PassInfoMixin<LateStep> {
 public:
  explicit LateStep(std::shared_ptr<UnitHolder> holder) : holder_(std::move(holder)) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }

 private:
  std::shared_ptr<UnitHolder> holder_;
};

}  // namespace duress::pass

#endif  // DURESS_PASS_LATE_STEP_H_
