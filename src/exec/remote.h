// SPDX-License-Identifier: Apache-2.0
//
// Executions on other machines: a Worker with such an executor hands its plans over and behaves as if it had
// run them itself. src/cluster implements it.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "exec/plan.h"
#include "exec/worker_problem.h"

namespace duress::exec {

struct WorkerOptions;

/// Everything that an execution leaves behind, as bytes that can be carried to another machine.
struct RemoteRun {
  bool ran = false;
  WorkerProblem problem;  // if it did not
  Execution execution;
  std::string output, errors;
  std::vector<std::pair<std::string, std::string>> logs;  // name and content of each file
  int restarts = 0, leftovers = 0;
};

/// Threads: any.
class RemoteExecutor {
 public:
  virtual ~RemoteExecutor() = default;
  /// Waits until the execution has been performed, or `stop` turns true: then the problem is kStopped.
  virtual RemoteRun run(const WorkerOptions& options, const Plan& plan, const std::atomic<bool>* stop) = 0;
};

}  // namespace duress::exec
