// SPDX-License-Identifier: Apache-2.0
//
// Vector accesses under a mask (masked loads and stores, gather, scatter, expand, compress): only the
// enabled lanes touch memory, so only they may be checked.
#pragma once

#include "llvm/IR/IntrinsicInst.h"
#include "pass/check_emitter.h"

namespace duress::pass {

/// Whether `inst` is such an access and may be shared.
bool is_masked_access(const llvm::Instruction* inst, AccessFilter& filter);

/// Emits its checks before it.
void check_masked_access(llvm::IntrinsicInst* inst, CheckEmitter& emitter);

}  // namespace duress::pass
