// SPDX-License-Identifier: Apache-2.0
//
// When the target is about to die of a signal, the log says where, and then it dies as it would have.
#pragma once

namespace duress {

/// Handlers for signals that end a program by their nature, where the target has none of its own.
void install_crash_handlers();

/// A process of the program is about to send a signal past the scheduler: SIGKILL, to the process that the
/// execution is, has not come from outside.
void control_sends(int process, int signal);

}  // namespace duress
