// SPDX-License-Identifier: Apache-2.0
//
// The two passes that the plugin adds to the compiler's pipeline.
#pragma once

#include "llvm/IR/PassManager.h"
#include "pass/unit.h"

namespace duress::pass {

/// Before optimisation: names variables, makes the faithful bodies. See early_step.cc.
class EarlyStep : public llvm::PassInfoMixin<EarlyStep> {
 public:
  explicit EarlyStep(std::shared_ptr<UnitHolder> holder) : holder_(std::move(holder)) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }  // NOLINT(readability-identifier-naming): called by LLVM

 private:
  std::shared_ptr<UnitHolder> holder_;
};

/// After optimisation: makes the checked bodies, joins the three of each function, emits the tables.
class LateStep : public llvm::PassInfoMixin<LateStep> {
 public:
  explicit LateStep(std::shared_ptr<UnitHolder> holder) : holder_(std::move(holder)) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }  // NOLINT(readability-identifier-naming): called by LLVM

 private:
  std::shared_ptr<UnitHolder> holder_;
};

}  // namespace duress::pass
