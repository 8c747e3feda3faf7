// SPDX-License-Identifier: Apache-2.0
//
// `duress work` without its options and text: runs the executions that a coordinator requests through a
// shared folder, and writes the results into a record of its own. It has no other state: killed, started
// twice or restarted on another machine, it can only add executions that are the same everywhere.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>

#include "base/mutex.h"
#include "cluster/folder.h"
#include "cluster/shard_log.h"
#include "exec/worker.h"

namespace duress::cluster {

struct ShardOptions {
  std::string dir;  // that is shared
  u64 shard = 1, of = 1;
  double seconds = 0;       // 0: no limit
  double patience = 10;     // seconds that it waits for a campaign to begin
  std::string work_folder;  // of this process, on this machine
  /// Called now and then by the worker's thread: whether the campaign has no driver at the moment.
  std::function<void(bool abandoned)> driven;
};

struct ShardResult {
  std::string problem;  // "": none
  std::string reason;   // why it ended
  u64 executions = 0;
};

/// Threads: one.
class ShardWorker {
 public:
  ShardWorker(ShardOptions options, const std::atomic<bool>& stop);
  ~ShardWorker();
  ShardResult run();
  const std::string& name() const { return name_; }

 private:
  struct Task {
    Key key;
    std::string payload;
  };

  std::string open();
  void read_queue();
  /// False: this machine cannot run it; the reason is in the record.
  bool perform(const Task& task);
  exec::Worker* worker_for(u64 spec, std::string& problem);
  bool write(RecordKind kind, const Key& key, std::string_view payload, bool now);
  std::string write_error();
  void beats();
  void look_at_campaign();
  bool over() const;

  ShardOptions options_;
  const std::atomic<bool>& stop_;
  std::optional<Folder> folder_;
  CampaignFile campaign_;
  std::string name_;
  std::unique_ptr<LogReader> queue_;
  std::deque<Task> tasks_;
  std::unordered_set<Key, KeyHash> withdrawn_;
  std::map<u64, std::unique_ptr<exec::Worker>> workers_;  // by spec
  std::atomic<bool> halt_{false};
  std::atomic<u64> done_{0};
  double started_ = 0, looked_ = 0, driver_moved_ = 0;
  u64 driver_beat_ = 0, driver_epoch_ = 0;
  ShardResult result_;
  Mutex write_lock_;
  std::unique_ptr<LogWriter> writer_ DURESS_GUARDED_BY(write_lock_);
  double flushed_ DURESS_GUARDED_BY(write_lock_) = 0;
  std::string write_error_ DURESS_GUARDED_BY(write_lock_);
  bool ended_ DURESS_GUARDED_BY(write_lock_) = false;
  Condition end_;
};

}  // namespace duress::cluster
