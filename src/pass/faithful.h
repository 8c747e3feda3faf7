// SPDX-License-Identifier: Apache-2.0
//
// Turns a copy of a function, taken before optimisation, into its faithful body: each source-level read
// and write of memory that may be shared becomes a call that performs it. The calls are opaque, so two reads
// stay two reads whatever the optimiser does later, and the runtime may return another legal value.
#ifndef DURESS_PASS_FAITHFUL_H_
#define DURESS_PASS_FAITHFUL_H_

#include "pass/unit.h"

namespace duress::pass {

void instrument_faithful(llvm::Function& function, Unit& unit, uint32_t function_index);

/// In the late step: drops what kept the optimiser away, adds the frames.
void finish_faithful(llvm::Function& function, Unit& unit);

}  // namespace duress::pass

#endif  // DURESS_PASS_FAITHFUL_H_
