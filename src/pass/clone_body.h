// SPDX-License-Identifier: Apache-2.0
//
// A copy of a function with debug info of its own. LLVM's CloneFunction does this too, but (in 19) it walks
// every type that the function's debug info can reach, once per copy: with C++ library headers that is most
// of the compile unit. Here the copy stops at what stays shared: types, and scopes of inlined functions.
#ifndef DURESS_PASS_CLONE_BODY_H_
#define DURESS_PASS_CLONE_BODY_H_

#include "llvm/IR/Function.h"

namespace duress::pass {

llvm::Function* clone_body(llvm::Function& function);

}  // namespace duress::pass

#endif  // DURESS_PASS_CLONE_BODY_H_
