// SPDX-License-Identifier: Apache-2.0
//
// Hands executions to workers in other processes, through a shared folder, and waits for their results.
// Callers (classify, explore, verify) ask from many threads and see no difference to a local worker; so the
// results of a campaign cannot depend on how many workers there are or whether they fail.
//
// An execution is a function of the program's build, its plan and nothing else. So it is named by a hash of
// these: one that is in any worker's record is never run again, and one that was run twice (its worker was
// thought dead) gives the same answer twice.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "cluster/folder.h"
#include "cluster/shard_log.h"
#include "exec/remote.h"

namespace duress::cluster {

struct CoordinatorOptions {
  std::vector<Folder> folders;  // the first is the campaign's; results are taken from all
  u64 epoch = 0;
  bool recorded_only = false;  // there are no workers: what is not recorded is missing
  /// One line for the user; called by the coordinator's thread.
  std::function<void(const std::string&)> say;
  /// A result is missing, or another process drives the campaign now.
  std::function<void()> stop;
};

/// For the progress line.
struct CoordinatorState {
  u64 workers = 0;  // that are alive
  u64 done = 0;     // executions of this process's campaign that workers performed
  u64 reused = 0;   // that earlier records had
  u64 waiting = 0;  // requested, no result yet
  u64 again = 0;    // requested a second time, because a worker was lost or slow
  u64 withdrawn = 0;
};

/// Threads: any.
class Coordinator : public exec::RemoteExecutor {
 public:
  explicit Coordinator(CoordinatorOptions options);
  ~Coordinator() override;

  exec::RemoteRun run(const exec::WorkerOptions& options, const exec::Plan& plan,
                      const std::atomic<bool>* stop) override;
  /// Ends every pending execution with this problem.
  void fail(const std::string& text);
  /// Sends no more requests and messages.
  void close();
  CoordinatorState state();
  /// Shards whose worker is alive.
  std::vector<u64> answering();
  bool missing() const { return missing_; }

 private:
  struct Wanted;
  struct Peer;
  struct Place {
    u32 peer;
    u64 offset;
  };

  void drive();
  void scan() DURESS_REQUIRES(lock_);
  u64 read_records() DURESS_REQUIRES(lock_);
  void take(std::size_t index, const LogRecord& record) DURESS_REQUIRES(lock_);
  void take_result(std::size_t index, const LogRecord& record) DURESS_REQUIRES(lock_);
  void take_problem(std::size_t index, const LogRecord& record) DURESS_REQUIRES(lock_);
  void assign() DURESS_REQUIRES(lock_);
  void give(const std::shared_ptr<Wanted>& wanted, std::size_t index) DURESS_REQUIRES(lock_);
  void steal() DURESS_REQUIRES(lock_);
  void lose(std::size_t index, const std::string& why) DURESS_REQUIRES(lock_);
  void withdraw_orphans() DURESS_REQUIRES(lock_);
  void check_silence() DURESS_REQUIRES(lock_);
  void beat() DURESS_REQUIRES(lock_);
  void flush() DURESS_REQUIRES(lock_);
  void fail_locked(exec::WorkerProblem problem) DURESS_REQUIRES(lock_);
  std::string spec_of(const exec::WorkerOptions& options, u64& hash) DURESS_REQUIRES(lock_);

  CoordinatorOptions options_;
  const Folder& folder_;
  Mutex lock_;
  Condition asked_;
  std::map<std::string, u64> specs_ DURESS_GUARDED_BY(lock_);
  std::unordered_map<Key, std::shared_ptr<Wanted>, KeyHash> open_ DURESS_GUARDED_BY(lock_);
  std::deque<std::shared_ptr<Wanted>> pending_ DURESS_GUARDED_BY(lock_);
  std::unordered_map<Key, Place, KeyHash> known_ DURESS_GUARDED_BY(lock_);
  std::vector<std::unique_ptr<Peer>> peers_ DURESS_GUARDED_BY(lock_);
  exec::WorkerProblem problem_ DURESS_GUARDED_BY(lock_);
  CoordinatorState state_ DURESS_GUARDED_BY(lock_);
  bool over_ DURESS_GUARDED_BY(lock_) = false, loading_ DURESS_GUARDED_BY(lock_) = true;
  bool given_up_ DURESS_GUARDED_BY(lock_) = false;
  std::atomic<bool> missing_{false};
  double scanned_ DURESS_GUARDED_BY(lock_) = 0, beaten_ DURESS_GUARDED_BY(lock_) = 0;
  double heard_ DURESS_GUARDED_BY(lock_) = 0, tidied_ DURESS_GUARDED_BY(lock_) = 0;
  u64 beats_ DURESS_GUARDED_BY(lock_) = 0;
  std::thread thread_;
};

}  // namespace duress::cluster
