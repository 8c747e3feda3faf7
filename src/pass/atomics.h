// SPDX-License-Identifier: Apache-2.0
//
// Replaces atomic instructions by hooks that perform them: the runtime must order the operation with
// its own bookkeeping, and in faithful bodies choose the value read.
#pragma once

#include <functional>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "pass/hook_set.h"

namespace duress::pass {

/// Bit pattern of `value` as an integer of its store size, and back.
llvm::Value* to_integer(llvm::IRBuilderBase& builder, llvm::Value* value, uint64_t size);
llvm::Value* from_integer(llvm::IRBuilderBase& builder, llvm::Value* bits, llvm::Type* type);

/// What the site table should say of an atomic instruction.
struct AtomicShape {
  llvm::Value* address;  // null for fences
  uint64_t size;
  int access;  // DuressAccess
};
AtomicShape atomic_shape(const llvm::Instruction* inst);

/// Replaces `inst` (AccessFilter::is_hooked_atomic) and erases it. May split its block. `around` is called
/// with a builder before (true) and after (false) each hook call.
using Around = std::function<void(llvm::IRBuilderBase&, bool before)>;
void lower_atomic(llvm::Instruction* inst, HookSet& hooks, llvm::Constant* site, const Around& around);

}  // namespace duress::pass
