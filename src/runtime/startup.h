// SPDX-License-Identifier: Apache-2.0
//
// The two ways in which the runtime comes into a process: linked into an instrumented executable
// (preinit.cc), or preloaded into one that is not, for the instrumented libraries that it loads (preload.cc).
#pragma once

#include "duress/hooks.h"

namespace duress {
/// The executable is not instrumented.
extern bool g_preloaded;
}  // namespace duress

extern "C" {
/// Wakes the runtime, if the environment says so.
__attribute__((visibility("hidden"))) void duress_start(char** environment);
__attribute__((visibility("hidden"))) void duress_own_module_init(const DuressModule* module);
}
