// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_PASS_EARLY_STEP_H_
#define DURESS_PASS_EARLY_STEP_H_

#include "llvm/IR/PassManager.h"
#include "pass/unit.h"

namespace duress::pass {

/// Before optimisation: names variables, makes the faithful bodies. See early_step.cc.
class EarlyStep : public llvm::PassInfoMixin<EarlyStep> {
 public:
  explicit EarlyStep(std::shared_ptr<UnitHolder> holder) : holder_(std::move(holder)) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }

 private:
  std::shared_ptr<UnitHolder> holder_;
};

/// Whether the function can have a second body at all: no label of it is known outside.
bool can_be_cloned(const llvm::Function& function);

/// Whether a parameter is a structure on the stack.
bool passes_by_value(const llvm::Function& function);

}  // namespace duress::pass

#endif  // DURESS_PASS_EARLY_STEP_H_
