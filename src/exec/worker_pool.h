// SPDX-License-Identifier: Apache-2.0
//
// Workers side by side, each on a thread of its own while there is work. The one place of the host that has
// threads: search and classify run numbered jobs in batches (run), verify feeds its threads from a queue
// (start, join).
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "exec/worker.h"

namespace duress::exec {

class WorkerPool {
 public:
  /// Called every 100 ms by the thread that waits for the workers; false halts them.
  using Tick = std::function<bool()>;
  /// Does job `index` of a batch. False: this worker cannot continue (see its problem).
  using Job = std::function<bool(u64 index, Worker& worker)>;

  /// The workers' folders are made below that of `options`.
  WorkerPool(const WorkerOptions& options, unsigned jobs);
  ~WorkerPool();

  /// Does jobs 0 to count-1; each begins after all with lower numbers have begun. Returns whether all were
  /// done; if not, `problem()` says why, or `tick` has halted them. `piece`: a worker takes so many at a
  /// time, beginning at a multiple of it; those of a piece begin one after the other.
  bool run(u64 count, const Job& job, const Tick& tick, u64 piece = 1);
  /// How many of so many jobs a worker may take at a time, so that all have work until the end.
  u64 piece_of(u64 count) const;

  /// Calls `body` once for each of the first `count` workers, on a thread per worker, and returns at once.
  /// REQUIRES: no threads are running.
  void start(std::size_t count, std::function<void(Worker&)> body);
  /// Waits until these threads have ended.
  void join(const Tick& tick = {});

  /// Ends the executions under way; they report WorkerProblem::Kind::kStopped.
  void halt() { halt_ = true; }
  /// Executions may run again. Returns whether they were halted.
  bool resume() { return halt_.exchange(false); }
  bool halted() const { return halt_; }

  /// Runs one execution and counts it.
  std::optional<Execution> execute(Worker& worker, const Plan& plan);
  Result execute(Worker& worker, const Plan& plan, const Oracle& oracle, Logs logs = Logs::kOfFailures,
                 const Lookahead& lookahead = {});

  /// The first worker, for the thread that owns the pool. REQUIRES: no threads are running.
  Worker& front() { return *workers_.front(); }
  /// Why a batch could not be finished; it stays.
  const WorkerProblem& problem() const { return problem_; }
  u64 executions() const { return executions_; }
  u64 restarts() const;
  u64 repeats() const;
  u64 leftovers() const;
  std::size_t size() const { return workers_.size(); }

 private:
  void count_execution();

  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> halt_{false};
  std::atomic<u64> executions_{0};
  std::vector<std::thread> threads_;
  std::mutex lock_;  // what follows
  std::condition_variable ended_;
  std::size_t running_ = 0;  // threads
  WorkerProblem problem_;
  u64 kill_at_ = 0;  // for tests: the process ends by SIGKILL after this many executions
};

}  // namespace duress::exec
