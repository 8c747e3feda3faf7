// SPDX-License-Identifier: Apache-2.0
//
// The calling thread's stack by unwinding, for the few events whose caller may be a library that pushes no
// frames (std::thread calls pthread_create from libstdc++). Slow: microseconds.
#pragma once

#include "base/types.h"

namespace duress {

/// A hash of the frame that `caller` is in and of all frames above it, up to `top`: the registers that
/// live on and the memory. 0 if it is not known.
u64 unwound_state(uptr caller, uptr top);

/// Fills `frames`, innermost first, from the frame that returns to `from` on (frames inside the runtime come
/// before it); all frames if there is none such. Returns how many.
int unwind_stack(uptr* frames, int most, uptr from);

/// The same from the return address in `*slot` on. Under control stacks are remembered with the places of
/// their return addresses, and one whose addresses are all still there is not unwound again, which takes 4
/// us. Not beyond the end of an execution: unwinding leaves traces on the stack and in libgcc, so that what
/// an execution does would depend on those before it.
int unwind_stack_from(uptr* frames, int most, const uptr* slot);

/// How much further out the caller of the function that `pc` returns into has its frame, where `frame` is the
/// stack pointer after that return; 0: not known. `same_always`: it is the same whenever `pc` is returned to.
uptr unwound_frame_size(uptr pc, uptr frame, bool* same_always);

}  // namespace duress
