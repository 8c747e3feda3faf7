// SPDX-License-Identifier: Apache-2.0
//
// What is optimised in a faithful body: little. It is made of calls that nothing can move or merge, so the
// compiler's pipeline improves only what lies between them, but takes as long as for other code; such bodies
// are optnone from the start, which also lets the fast instruction selector translate them. Locals in
// registers and no dead branches are most of what there is to win. memcached.c, -O2 -g: 0.5 s of 3.7 less
// than with the whole pipeline.
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LowerConstantIntrinsics.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "pass/bodies.h"

namespace duress::pass {

void simplify_faithful(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto run = [&](auto pass) { analyses.invalidate(function, pass.run(function, analyses)); };
  run(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  run(llvm::EarlyCSEPass());
  run(llvm::LowerConstantIntrinsicsPass());
  run(llvm::SimplifyCFGPass());
  analyses.clear(function, function.getName());
}

}  // namespace duress::pass
