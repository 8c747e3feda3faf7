// SPDX-License-Identifier: Apache-2.0
//
// Checks of our own invariants. They stay on in release builds: a broken invariant inside somebody
// else's process must end in one clear line and exit code 125, never in a silent wrong answer.
#pragma once

#include "base/types.h"

namespace duress {

/// Prints "duress: internal error: ..." on standard error and ends the process with code 125.
[[noreturn]] void check_failed(const char* file, int line, const char* what);

/// Ends the process with code 125 after one line: the machine cannot give what Duress needs.
[[noreturn]] void fatal(const char* what, const char* hint = "");

/// Called by both before the process ends; null: nothing is.
extern void (*g_on_fatal)();

#define DURESS_CHECK(condition)                                                                \
  do {                                                                                         \
    if (DURESS_UNLIKELY(!(condition))) ::duress::check_failed(__FILE__, __LINE__, #condition); \
  } while (0)

}  // namespace duress
