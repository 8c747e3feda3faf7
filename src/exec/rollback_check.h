// SPDX-License-Identifier: Apache-2.0
//
// An execution in a process that was rolled back must be the one that a new process performs. That is checked
// while a campaign runs: now and then an execution is repeated in a new process, and everything that it
// left is compared.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

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
/// 100th, the 1000th, and from then on every 5000th. Threads: one at a time.
class RollbackCheck {
 public:
  /// To be asked after each execution.
  bool is_due(const Execution& execution);
  /// The process of the last execution is gone.
  void forget_process() { pid_ = 0; }

 private:
  int pid_ = 0;  // of a process that has been rolled back; 0: none
  u64 rolled_back_ = 0, next_ = 1;
};

/// How the executions of a campaign were undone, and why some were not. Threads: any.
class RollbackStatistics {
 public:
  /// `ahead`: it took place before it was asked for.
  void add(const trail::Record& record, bool ahead);
  /// An execution after a rollback was not the one of a new process.
  void add_difference();

  /// "" or a line for the user: nothing is rolled back any more.
  std::string warning() const;
  /// "2999 of 3000 executions were undone in their process".
  std::string text() const;

 private:
  mutable std::mutex lock_;  // what follows
  u64 executions_ = 0, undone_ = 0, ahead_ = 0, differences_ = 0;
  std::map<std::pair<trail::Rollback, u32>, u64> others_;  // why not, the system call; how many
};

}  // namespace duress::exec
