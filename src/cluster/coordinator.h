// SPDX-License-Identifier: Apache-2.0
//
// Hands executions to workers in other processes, through a shared folder, and waits for their results.
// Callers (classify, explore, verify) ask from many threads and see no difference to a local worker; so the
// results of a campaign cannot depend on how many workers there are or whether they fail.
//
// An execution is a function of the program's build, its plan and nothing else. So it is named by a hash of
// these: one that is in any worker's record is never run again, and one that was run twice (its worker was
// thought dead) gives the same answer twice.
#ifndef DURESS_CLUSTER_COORDINATOR_H_
#define DURESS_CLUSTER_COORDINATOR_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

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
  void scan();
  u64 read_records();
  void take(std::size_t index, const LogRecord& record);
  void assign();
  void give(const std::shared_ptr<Wanted>& wanted, std::size_t index);
  void steal();
  void lose(std::size_t index, const std::string& why);
  void withdraw_orphans();
  void check_silence();
  void beat();
  void flush();
  void fail_locked(exec::WorkerProblem problem);
  std::string spec_of(const exec::WorkerOptions& options, u64& hash);

  CoordinatorOptions options_;
  const Folder& folder_;
  std::mutex lock_;  // everything below
  std::condition_variable asked_;
  std::map<std::string, u64> specs_;
  std::unordered_map<Key, std::shared_ptr<Wanted>, KeyHash> open_;
  std::deque<std::shared_ptr<Wanted>> pending_;
  std::unordered_map<Key, Place, KeyHash> known_;
  std::vector<std::unique_ptr<Peer>> peers_;
  exec::WorkerProblem problem_;
  CoordinatorState state_;
  bool over_ = false, loading_ = true, given_up_ = false;
  std::atomic<bool> missing_{false};
  double scanned_ = 0, beaten_ = 0, heard_ = 0, tidied_ = 0;
  u64 beats_ = 0;
  std::thread thread_;
};

}  // namespace duress::cluster

#endif  // DURESS_CLUSTER_COORDINATOR_H_
