// SPDX-License-Identifier: Apache-2.0
//
// The calling thread's stack by unwinding, for the few events whose caller may be a library that pushes no
// frames (std::thread calls pthread_create from libstdc++). Slow: microseconds.
#pragma once

#include "base/types.h"

namespace duress {

/// Fills `frames`, innermost first, from the frame that returns to `from` on (frames inside the runtime come
/// before it); all frames if there is none such. Returns how many.
/// A hash of the frame that `caller` is in and of all frames above it, up to `top`: the registers that
/// live on and the memory. 0 if it is not known.
u64 unwound_state(uptr caller, uptr top);

int unwind_stack(uptr* frames, int most, uptr from);

}  // namespace duress
