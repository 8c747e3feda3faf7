// SPDX-License-Identifier: Apache-2.0
//
// Turns a copy of a function's optimised body into its checked body: race checks before plain accesses,
// hooks for atomics, frames for stacks. Functions that cannot be copied are instrumented in place instead.
#ifndef DURESS_PASS_CHECKED_H_
#define DURESS_PASS_CHECKED_H_

#include "llvm/IR/PassManager.h"
#include "pass/unit.h"

namespace duress::pass {

/// Whether the function has anything to check or to push a frame for.
bool needs_instrumentation(llvm::Function& function);

void instrument_checked(llvm::Function& function, Unit& unit, uint32_t function_index,
                        llvm::FunctionAnalysisManager& analyses);

/// Each hook is guarded by the function's byte, so the function stays as it was while that is 0.
void instrument_in_place(llvm::Function& function, Unit& unit, uint32_t function_index);

}  // namespace duress::pass

#endif  // DURESS_PASS_CHECKED_H_
