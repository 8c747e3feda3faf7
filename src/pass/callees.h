// SPDX-License-Identifier: Apache-2.0
//
// What faithful bodies call. Most functions of a header are inlined everywhere and then dropped, but the
// faithful bodies still call each of them: naming them would keep all, to be optimised, checked and compiled.
// So while the optimiser works a faithful body calls a declaration that stands in for such a function. The
// late step lets it call the function if that is still there, else the function's faithful body, which is
// then all that is left of it. On tests/pass/programs/library.cc this took 10 of 26 s away, and 7 of 17 MB.
#pragma once

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/PassManager.h"
#include "pass/unit.h"

namespace duress::pass {

/// In the early step: puts stand-ins into the calls of a faithful body, when all of them have been made.
void hide_callees(llvm::Function& faithful, Unit& unit);

/// Faithful bodies that can be reached, simplified and ready for finish_faithful().
struct FaithfulBodies {
  llvm::SetVector<llvm::Function*> all;
  std::vector<llvm::Function*> alone;  // those of functions that are gone
};

/// In the late step: replaces the stand-ins.
FaithfulBodies find_callees(Unit& unit, llvm::FunctionAnalysisManager& analyses);

}  // namespace duress::pass
