// SPDX-License-Identifier: Apache-2.0
//
// Decides which race checks a function needs. Most accesses need none: an earlier check in the same
// synchronisation-free region already showed the detector what this one would. Within such a region a
// thread's epoch does not change, so a checked write covers later reads and writes of those bytes, and a
// checked read covers later reads; another thread's access in between races with the first one anyway.
#pragma once

#include <vector>

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"
#include "pass/access.h"
#include "pass/variable_namer.h"

namespace duress::pass {

struct Check {
  Access access;              // what is checked; `inst` is where its site points
  llvm::Instruction* before;  // where the check goes
  /// A range instead of one access: set when a loop's accesses were gathered.
  llvm::Value* range_start = nullptr;
  llvm::Value* range_bytes = nullptr;  // with a stride: how many accesses
  /// Accesses with gaps between them, this many bytes from one to the next.
  llvm::Value* stride = nullptr;
  uint64_t stride_size = 0;  // of each
};

/// The checks for all plain accesses of `function`, which is prepared for them (loops in simple form).
std::vector<Check> plan_checks(llvm::Function& function, AccessFilter& filter, VariableNamer& namer,
                               llvm::FunctionAnalysisManager& analyses);

// The steps, exposed for reading in order. Each works on the list that the one before left.

/// x = x + 1: the read's check becomes the write's, if the write is certain to follow.
void merge_reads_into_writes(std::vector<Check>& checks, const llvm::DataLayout& layout);

/// Drops checks that are covered on every path.
void drop_covered(llvm::Function& function, std::vector<Check>& checks, const llvm::DataLayout& layout);

/// Moves checks out of loops that do not synchronise (loop_ranges.cc). Returns those that became ranges.
std::vector<Check> hoist_from_loops(llvm::Function& function, std::vector<Check>& checks,
                                    VariableNamer& namer, llvm::FunctionAnalysisManager& analyses);
void simplify_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace duress::pass
