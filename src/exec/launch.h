// SPDX-License-Identifier: Apache-2.0
//
// Starting a target and waiting for it.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace duress::exec {

struct LaunchResult {
  int start_error = 0;  // errno if the program could not be started; then the rest means nothing
  pid_t pid = 0;
  bool signalled = false;
  int code = 0;  // exit code, or the signal's number
  double seconds = 0;

  /// What a shell would report: the exit code, or 128 + signal.
  int exit_code() const { return signalled ? 128 + code : code; }
};

/// Runs `argv` with our standard streams, folder and environment, plus `environment`. A SIGINT, SIGTERM or
/// SIGHUP sent to us is passed on, and we go on waiting: the report is wanted most when a run is cut short.
LaunchResult launch(const std::vector<std::string>& argv,
                    const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace duress::exec
