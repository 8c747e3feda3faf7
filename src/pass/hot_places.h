// SPDX-License-Identifier: Apache-2.0
//
// Where a test is worth code of its own. In front of an access it is fastest inline, but 25 instructions and
// two blocks for each of 1,800 accesses made compiling memcached.c take 1.4 s longer than 1,800 calls of a
// function that makes the same test (clang alone: 0.7 s). Most of a program's time passes in its loops and
// its small functions; they get the code.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"

namespace duress::pass {

using Places = llvm::SmallPtrSet<const llvm::Instruction*, 16>;

/// Whether it has a loop in which tests would be inline.
bool has_small_loop(llvm::LoopInfo& loops);

/// All of a few; of many those in small loops, in the smallest ones first.
Places choose_hot(llvm::ArrayRef<const llvm::Instruction*> places, llvm::LoopInfo& loops);

}  // namespace duress::pass
