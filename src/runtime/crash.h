// SPDX-License-Identifier: Apache-2.0
//
// When the target is about to die of a signal, the log says where, and then it dies as it would have. The
// same where a controlled execution ends with an exit code that says that something went wrong.
#pragma once

#include "base/types.h"

namespace duress {

/// Handlers for signals that end a program by their nature, where the target has none of its own.
void install_crash_handlers();

/// The calling thread ends the process with that code: `pc` is where, `returns` that main does so.
void report_exit(int code, uptr pc, bool returns = false);

/// A process of the program is about to send a signal past the scheduler: SIGKILL, to the process that the
/// execution is, has not come from outside.
void control_sends(int process, int signal);

}  // namespace duress
