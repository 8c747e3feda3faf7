// SPDX-License-Identifier: Apache-2.0
//
// Which processes perform the executions of a campaign (`--executor`). The command calls begin(), use() and
// end(); in between it works as if it ran everything itself.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "cluster/coordinator.h"
#include "cluster/slurm.h"
#include "exec/worker.h"

namespace duress::cluster {

struct SessionOptions {
  std::string executor = "local";
  u64 workers = 0;
  std::string partition;
  std::vector<std::string> sbatch_args;
  bool cancel = false;
  std::vector<std::string> from;  // recorded: folders with results
};

/// What is to be distributed.
struct Job {
  std::string command;                 // "classify"
  std::vector<std::string> arguments;  // as they were typed
  std::vector<std::string> target;
  std::string dir;  // absolute: the folder that workers see too
  bool quiet = false;
  /// One line for the user; may be called by the session's thread.
  std::function<void(const std::string&)> say;
};

/// Why a command ends before it began: its exit code, and one line for the user.
struct SessionEnd {
  int code;
  std::string text;
};

/// Threads: used by one; it starts one of its own.
class Session {
 public:
  Session();
  ~Session();

  /// Nothing: go on. `stop` is set when nothing is left to wait for.
  std::optional<SessionEnd> begin(const SessionOptions& options, const Job& job, std::atomic<bool>& stop);
  bool remote() const { return coordinator_ != nullptr; }
  /// Where this process works: on this machine, if the folder of the campaign is shared with others.
  std::string work_dir(const std::string& dir) const;
  /// Started by duress merge or duress work: the campaign is another command's, and so are its records.
  bool serves_other_command() const {
    return options_.executor == "recorded" || options_.executor == "background";
  }
  /// The program's standard input, kept at `path` ("": none), where workers see it.
  std::string input(const std::string& path);
  /// Makes workers with these options hand their executions to other machines.
  void use(exec::WorkerOptions& worker, unsigned& jobs) const;
  /// The campaign is over (or, with false, was interrupted): workers and user learn it.
  void end(bool over);
  /// For the live line of the command: "" or ", 3 of 4 workers".
  std::string text();

 private:
  CampaignFile wanted_campaign() const;
  std::optional<SessionEnd> check_options();
  SessionEnd cancel_array(std::optional<CampaignFile>& known);
  std::string choose_campaign(const std::optional<CampaignFile>& known);
  std::string open_coordinator();
  std::string array_file() const;

  // The thread (session_array.cc):
  void follow();
  bool submit_array();
  void watch_array();
  std::string failed_text(u64 number, const ArrayTask& task) const;
  void report_changes(u64 number, const ArrayTask& task);
  void report_unseen(u64 number, const ArrayTask& task, bool heard);
  /// What the live line says of the array's tasks.
  void show_array(const std::string& text);
  void message(const std::string& text);

  SessionOptions options_;
  Job job_;
  std::atomic<bool>* stop_ = nullptr;
  std::shared_ptr<Coordinator> coordinator_;
  std::optional<Folder> folder_;
  CampaignFile campaign_;
  std::thread thread_;
  std::atomic<bool> over_{false};
  // Of the thread, and before and after it:
  std::string array_;  // its job's number; "": none
  std::map<u64, ArrayTask> tasks_;
  double asked_ = 0, started_ = 0, submitted_ = 0;
  bool explained_ = false;        // how workers are started
  std::map<u64, double> unseen_;  // tasks that run, and from when on no worker was heard of
  Mutex lock_;
  std::string array_text_ DURESS_GUARDED_BY(lock_);  // the state of the array's tasks, for the live line
};

}  // namespace duress::cluster
