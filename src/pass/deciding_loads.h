// SPDX-License-Identifier: Apache-2.0
//
// Loads whose value the program works with: it computes, compares or addresses with it. What is only copied
// may be padding, or a member that has no value yet; and a store to a bit-field reads its neighbours to write
// them back.
#pragma once

#include "llvm/IR/Instructions.h"

namespace duress::pass {

bool is_deciding(const llvm::LoadInst& load);

}  // namespace duress::pass
