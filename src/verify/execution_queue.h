// SPDX-License-Identifier: Apache-2.0
//
// Executions that workers run while the explorer does other things. Each has a name (its plan), and its
// outcome is kept under that name until it is taken.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "exec/worker_pool.h"
#include "finding/failure.h"
#include "finding/run_logs.h"

namespace duress::verify {

/// One execution, and what the worker that ran it found in it.
struct Outcome {
  bool ran = false;
  exec::WorkerProblem problem;
  exec::Execution execution;
  std::optional<finding::Failure> failure;
  finding::RunLogs logs;
  std::string errors;
};

/// Threads: the owner calls everything that is public.
class ExecutionQueue {
 public:
  /// Runs a plan; called by the workers' threads.
  using Run = std::function<Outcome(exec::Worker&, const exec::Plan&)>;

  ExecutionQueue(exec::WorkerPool& pool, Run run);
  /// Waits for the executions under way: halt the pool first to end them.
  ~ExecutionQueue();
  ExecutionQueue(const ExecutionQueue&) = delete;
  ExecutionQueue& operator=(const ExecutionQueue&) = delete;

  /// `first`: before all others that have not begun.
  void add(const std::string& name, exec::Plan plan, bool first = false);
  bool has(const std::string& name);
  /// Executions that have not ended.
  std::size_t unfinished();
  /// Roughly the memory of outcomes that nobody has taken.
  std::size_t kept_bytes();
  std::size_t workers() const { return pool_.size(); }
  /// The outcome of an execution that was added. Nothing: it has not ended; returns after 100 ms, or when
  /// another one has ended.
  std::optional<Outcome> take(const std::string& name);
  /// The same without waiting, and it stays to be taken. Null: it has not ended.
  const Outcome* peek(const std::string& name);
  /// Drops executions that have not begun and outcomes that nobody has taken.
  void clear();

 private:
  struct Job {
    exec::Plan plan;
    Outcome outcome;
    bool done;
  };

  void work(exec::Worker& worker);

  exec::WorkerPool& pool_;
  Run run_;
  std::mutex lock_;  // what follows
  std::condition_variable added_, ended_;
  std::map<std::string, Job> jobs_;
  std::deque<std::string> waiting_;
  std::size_t done_ = 0;  // of jobs_
  std::size_t kept_bytes_ = 0;
  u64 finished_ = 0;
  bool closed_ = false;
};

}  // namespace duress::verify
