// SPDX-License-Identifier: Apache-2.0
//
// An execution in a process that was rolled back must be the one that a new process performs. That is checked
// while a campaign runs: now and then an execution is repeated in a new process, and everything that it
// left is compared.
#pragma once

#include <string>

#include "exec/captured.h"
#include "exec/plan.h"

namespace duress::exec {

/// An execution with what it printed.
struct Observed {
  Execution execution;
  std::string output, errors;

  static Observed of(const Execution& execution, const Captured& captured);
  /// Whether the two show the same behaviour of the program.
  bool equals(const Observed& other) const;
};

/// Chooses the executions that are repeated: the first in a process that was rolled back, the 10th, the
/// 100th, and every 1000th. Threads: one at a time.
class RollbackCheck {
 public:
  /// To be asked after each execution.
  bool is_due(const Execution& execution);
  /// The process of the last execution is gone.
  void forget_process() { pid_ = 0; }
  /// Executions in processes that had been rolled back.
  u64 rolled_back() const { return rolled_back_; }

 private:
  int pid_ = 0;  // of a process that has been rolled back; 0: none
  u64 rolled_back_ = 0, next_ = 1;
};

}  // namespace duress::exec
