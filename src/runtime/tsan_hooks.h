// SPDX-License-Identifier: Apache-2.0
//
// ThreadSanitizer's hooks as a second way into the runtime: what gcc, clang and rustc call in code that they
// compiled with -fsanitize=thread. There is one body of each function, so the hooks are called in a program
// that sleeps, too; and they only announce plain accesses, so no value can be replaced. Sites are return
// addresses (code_sites.h).
#pragma once

#include "runtime/runtime.h"

namespace duress {

/// What the hooks of plain accesses do.
enum class TsanMode : u8 {
  kAsleep,  // nothing
  kFirsts,  // the first access of an epoch goes to FastTrack, as in checked bodies
  kEvery,   // every access goes to the scheduler and the chain, as in faithful bodies
};
extern TsanMode g_tsan_mode;

/// The runtime is awake.
void tsan_hooks_wake(Runtime& rt, bool every);

/// The site of the code at `pc`; one that names nothing while the thread is inside the runtime.
const DuressSite* tsan_site(uptr pc, DuressAccess access, u8 size);

}  // namespace duress

#define DURESS_EXPORT extern "C" __attribute__((visibility("default")))
