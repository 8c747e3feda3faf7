// SPDX-License-Identifier: Apache-2.0
//
// `c ? x : y` reads one variable. The optimiser may read both and choose afterwards: InstCombine turns a load
// through a chosen address into a choice between two loads, `sanitize_thread` or not. A check of the second
// load would be a false alarm, so such pairs are turned back, after each run of InstCombine and before the
// checks are made.
#pragma once

#include "llvm/IR/PassManager.h"

namespace duress::pass {

/// Turns pairs of loads that InstCombine made of one back into one, in functions that will be instrumented.
/// The address is hidden behind llvm.launder.invariant.group, so that the next run of InstCombine does not
/// split the load again; open_addresses() ends that.
class ConditionalLoads : public llvm::PassInfoMixin<ConditionalLoads> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

bool join_conditional_loads(llvm::Function& function);
void open_addresses(llvm::Function& function);

}  // namespace duress::pass
