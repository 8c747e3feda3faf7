// SPDX-License-Identifier: Apache-2.0
//
// Attaching to a program: one that is started here, or a running one. A running thread is seized, not
// interrupted, so no system call of it is cut short.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace duress::collide {

/// A field of /proc/PID/status as a number; -1 if it is not there.
long status_field(pid_t pid, const char* name);

/// Traces `tid` from now on. 0, or errno. `ours`: it is killed if we are.
int seize(pid_t tid, bool ours = false);

/// Starts `program` and stops it, traced, before its first instruction. It has the signal mask `mask`. Its
/// pid, or -1 with the cause in `error` if it could not be started.
pid_t start_program(const std::vector<std::string>& program, const sigset_t& mask, int& error);

/// Traces all threads of the process `pid`; their ids are in `threads`, in order. "", or one line that says
/// why not.
std::string attach_to(pid_t pid, std::vector<pid_t>& threads);

}  // namespace duress::collide
