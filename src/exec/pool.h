// SPDX-License-Identifier: Apache-2.0
//
// Several workers side by side, each with a thread of its own while there is work.
#ifndef DURESS_EXEC_POOL_H_
#define DURESS_EXEC_POOL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/worker.h"

namespace duress::exec {

class Pool {
 public:
  /// Called by the thread that waits, every 100 ms; false ends what the workers do.
  using Tick = std::function<bool()>;
  /// Does piece `index` of the work. False: this worker cannot go on (see its problem).
  using Job = std::function<bool(u64 index, Worker& worker)>;

  /// The workers' folders are made below that of `options`.
  Pool(const WorkerOptions& options, unsigned jobs);
  ~Pool();

  /// Does pieces 0 to count-1; each begins after all with lower numbers have begun. Returns whether all
  /// were done; if not, `problem()` says why, or `tick` has ended it.
  bool run(u64 count, const Job& job, const Tick& tick);
  /// One execution, and it is counted.
  std::optional<Execution> execute(Worker& worker, const Plan& plan);

  const WorkerProblem& problem() const { return problem_; }
  u64 executions() const { return executions_; }
  u64 restarts() const;
  u64 leftovers() const;
  unsigned size() const { return static_cast<unsigned>(workers_.size()); }

 private:
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> halt_{false};
  std::atomic<u64> executions_{0};
  std::mutex lock_;  // problem_
  WorkerProblem problem_;
  u64 kill_at_ = 0;  // for tests: the process ends by SIGKILL after so many executions
};

}  // namespace duress::exec

#endif  // DURESS_EXEC_POOL_H_
