// SPDX-License-Identifier: Apache-2.0
//
// A trial attacks one variable, but every access of a faithful body is a call that performs it. Most are of
// no interest to the runtime, which says so by two tables of bytes: sites that are quiet, words of memory
// that are watched (hooks.h). A test in front of the call makes an access of a quiet site to an unwatched
// word an ordinary instruction: nine instructions instead of a call of 3 ns in bench/classify's kernels.
#pragma once

#include "pass/unit.h"

namespace duress::pass {

/// Puts the test in front of each call that performs a load or store of 1, 2, 4, 8 or 16 bytes. In the late
/// step: the optimiser has seen calls only, so it has neither merged accesses nor spent time on the tests.
void inline_quiet_accesses(llvm::Function& function, Unit& unit);

}  // namespace duress::pass
