// SPDX-License-Identifier: Apache-2.0
//
// The bodies of a function beside its original one, as the two steps (steps.h) make them.
#pragma once

#include "llvm/IR/PassManager.h"
#include "pass/unit.h"

namespace duress::pass {

/// Whether the function can have a second body at all: no label of it is known outside (early_step.cc).
bool can_be_cloned(const llvm::Function& function);
/// Whether a parameter is a structure on the stack.
bool passes_by_value(const llvm::Function& function);
/// Whether another round of optimisation follows at link time (late_step.cc).
bool is_for_lto(const llvm::Module& module);
/// A copy of a function with debug info of its own (clone_body.cc).
llvm::Function* clone_body(llvm::Function& function);

/// Turns a copy of a function, taken before optimisation, into its faithful body: each source-level read
/// and write of memory that may be shared becomes a call that performs it. The calls are opaque, so two reads
/// stay two reads whatever the optimiser does later, and the runtime may return another legal value.
void instrument_faithful(llvm::Function& function, Unit& unit, uint32_t function_index);
/// In the late step: drops what kept the optimiser away, adds the frames.
void finish_faithful(llvm::Function& function, Unit& unit);
/// In the late step, before that: all the optimisation that a faithful body gets (simplify.cc).
void simplify_faithful(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

/// Gives each terminator that the fast instruction selector cannot translate a block of its own: it would
/// leave the whole block to the slow one.
void part_slow_terminators(llvm::Function& function);

/// Whether the function has anything to check or to push a frame for.
bool needs_instrumentation(llvm::Function& function);
/// Turns a copy of a function's optimised body into its checked body.
void instrument_checked(llvm::Function& function, Unit& unit, uint32_t function_index,
                        llvm::FunctionAnalysisManager& analyses);
/// The same for a function that cannot be copied: each hook is guarded by the function's byte, so the
/// function stays as it was while that is 0.
void instrument_in_place(llvm::Function& function, Unit& unit, uint32_t function_index);

/// Adds the constructor that tells the runtime about this executable or shared library (module_init.cc).
void add_module_constructor(Unit& unit);

}  // namespace duress::pass
