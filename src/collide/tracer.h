// SPDX-License-Identifier: Apache-2.0
//
// Starts a program or attaches to one, and samples it and its children until it ends or time is up.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collide/sampler.h"
#include "finding/log_record.h"

namespace duress::collide {

struct TraceOptions {
  SampleOptions sampling;
  std::optional<Duration> duration;
  bool halt = false;        // end at the first collision that `keeps` accepts
  bool watchpoints = true;  // false: as on a machine without them
  std::vector<std::string> program;
  pid_t pid = 0;  // of a running process, if no program is given
  /// Whether this is worth ending for; asked when `halt` is set.
  std::function<bool(const finding::ProcessLog&)> keeps;
  /// Called with messages for the user while the target runs.
  std::function<void(const std::string&)> say;
};

struct TraceResult {
  int start_error = 0;  // errno of a program that could not be started
  std::string problem;  // why a process cannot be sampled, in one line; then nothing happened
  finding::RunLog log;
  pid_t pid = 0;
  bool ended = false;  // the program ended by itself; `code` says how
  bool signalled = false;
  int code = 0;
  bool cut = false;  // we ended it, or detached, because time was up
  double seconds = 0;
  Counts counts;
  double overhead = 0;  // measured cost of sampling
};

/// REQUIRES: no other children of this process. Blocks SIGCHLD and SIGINT, SIGTERM, SIGHUP, SIGQUIT
/// meanwhile.
TraceResult trace(const TraceOptions& options);

}  // namespace duress::collide
