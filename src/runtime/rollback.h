// SPDX-License-Identifier: Apache-2.0
//
// In-process rollback: the child of a fork server puts itself back to where it was before the execution, and
// performs the next one, instead of ending and being forked again. What cannot be put back ends the process
// after the execution, as ever.
#pragma once

#include "base/types.h"
#include "trail/execution.h"

namespace duress {

/// In a fork server, before it forks: what it shares with its children. False: there is no rollback.
bool rollback_prepare_server(u32 patch_after);
/// In the server: whether the next child is to roll itself back.
bool rollback_wanted();
/// In the server, when a child has ended: whether the host waits for an answer.
bool rollback_child_ended();

/// In a child of the server that does not roll itself back.
void rollback_unused();
/// In a child of the server: returns at the beginning of each execution, the first one at once.
void rollback_serve(int in, int out);
/// A systematic execution comes to its first choice. May take a checkpoint; later executions then begin with
/// the return from this call, which is true.
bool rollback_at_first_choice();
/// The execution has ended with that exit code. Returns if the process has to end.
void rollback_end(int code);
/// What the execution does cannot be undone: the process ends after it.
void rollback_refuse(trail::Rollback why, long call = 0);

/// Whether every system call outside the runtime is looked at.
bool rollback_watches_calls();

}  // namespace duress
