// SPDX-License-Identifier: Apache-2.0
//
// Starting a target for a controlled execution: the same streams, addresses and descriptors each time.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace duress::exec {

struct TargetStart {
  std::vector<std::string> argv;
  std::string folder;   // to start it in; "": ours
  std::string options;  // of DURESS_OPTIONS, after the user's own
  std::string input;    // file for its standard input
  int output = -1;      // descriptors for its standard output and error; -1: ours
  int errors = -1;
  std::vector<int> kept;   // other descriptors it gets
  bool own_group = false;  // a process group of its own: Ctrl-C reaches only us
  // With own_group: the reading end of a pipe. The kernel kills the group when nobody has the writing end any
  // more. Without own_group the program is killed when the thread that started it ends.
  int lifeline = -1;
};

struct Started {
  pid_t pid = -1;
  int error = 0;  // errno if it could not be started
};

/// Forks and executes. Safe to call from several threads.
Started start_target(const TargetStart& start);

/// The environment's DURESS_OPTIONS, then `ours`, so that ours win. `padded`: to one of a few lengths. The
/// environment lies above the stack: folders and process ids of different lengths would move the stack from
/// run to run.
std::string with_user_options(const std::string& ours, bool padded = true);

/// The variables of a controlled target: DURESS_OPTIONS, padded, and GLIBC_TUNABLES: the C library keeps the
/// stacks of ended threads. By default it keeps 40 MiB, so that those of a fifth thread would be mapped and
/// unmapped in every execution.
std::vector<std::pair<std::string, std::string>> controlled_variables(const std::string& options);

/// "" if DURESS_OPTIONS can hold `path`, else why not.
std::string check_option_path(const std::string& path);

// A process that a run leaves behind (a daemon, a child that outlives its parent) would write into the next
// run's output. We are the reaper of all our descendants, so we see it and end it.

/// Makes this process the reaper of its descendants. Once, before the first target is started.
void adopt_leftovers();
/// Ends processes that earlier runs left behind; returns how many.
int end_leftovers();
/// Starts a child of our own, which end_leftovers() must not end; it is blocked meanwhile. `run` starts the
/// process and returns its id.
pid_t start_own(pid_t (*run)(void*), void* argument);
void own_ended(pid_t pid);

}  // namespace duress::exec
