// SPDX-License-Identifier: Apache-2.0
//
// The plugin's entry: two steps, one before and one after everything that the compiler's optimiser does, and
// one that mends in between what the optimiser does to conditional loads. For tests with `opt` they also have
// names: -passes=duress-early,...,duress-late.
#include "llvm/Passes/PassBuilder.h"
#include "pass/compat.h"
#include "pass/conditional_loads.h"
#include "pass/steps.h"

namespace {

void register_callbacks(llvm::PassBuilder& builder) {
  using duress::pass::EarlyStep;
  using duress::pass::LateStep;
  auto holder = std::make_shared<duress::pass::UnitHolder>();
  builder.registerPipelineStartEPCallback(
      [holder](llvm::ModulePassManager& passes, auto&&...) { passes.addPass(EarlyStep(holder)); });
  builder.registerPeepholeEPCallback(
      [](llvm::FunctionPassManager& passes, auto&&...) { passes.addPass(duress::pass::ConditionalLoads()); });
  builder.registerOptimizerLastEPCallback(
      [holder](llvm::ModulePassManager& passes, auto&&...) { passes.addPass(LateStep(holder)); });
  builder.registerPipelineParsingCallback([holder](llvm::StringRef name, llvm::ModulePassManager& passes,
                                                   llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    if (name == "duress-early") {
      passes.addPass(EarlyStep(holder));
      return true;
    }
    if (name == "duress-late") {
      passes.addPass(LateStep(holder));
      return true;
    }
    return false;
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "duress", "1", register_callbacks};
}
