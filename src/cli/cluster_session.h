// SPDX-License-Identifier: Apache-2.0
//
// `--executor` of every command that runs campaigns: which processes perform the executions. The command
// calls begin(), use() and end(); in between it works as if it ran everything itself.
#ifndef DURESS_CLI_CLUSTER_SESSION_H_
#define DURESS_CLI_CLUSTER_SESSION_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cluster/coordinator.h"
#include "cluster/slurm.h"
#include "exec/worker.h"

namespace duress::cli {

/// What is to be distributed.
struct ClusterJob {
  std::string command;  // "classify"
  Arguments arguments;  // as they were typed
  std::vector<std::string> target;
  std::string dir;  // absolute: the folder that workers see too
  bool quiet = false;
};

/// Threads: used by one; it starts one of its own.
class ClusterSession {
 public:
  ClusterSession();
  ~ClusterSession();

  /// Nothing: go on. Else the exit code, after a message. `stop` is set when nothing is left to wait for.
  std::optional<int> begin(const ClusterOptions& options, const ClusterJob& job, std::atomic<bool>& stop);
  bool remote() const { return coordinator_ != nullptr; }
  /// Where this process works: on this machine, if the folder of the campaign is shared with others.
  std::string work_dir(const std::string& dir) const;
  /// Where a record belongs that only one process may open; "": where it always is.
  std::string record_dir() const;
  /// The program's standard input, kept at `path` ("": none), where workers see it.
  std::string input(const std::string& path);
  /// Makes workers with these options hand their executions to other machines.
  void use(exec::WorkerOptions& worker, unsigned& jobs) const;
  /// The campaign is over (or, with false, was interrupted): workers and user learn it.
  void end(bool over);

 private:
  cluster::CampaignFile wanted_campaign() const;
  std::optional<int> check_options();
  int cancel_array(std::optional<cluster::CampaignFile>& known);
  std::string choose_campaign(const std::optional<cluster::CampaignFile>& known);
  std::string open_coordinator();
  /// Started by duress merge or duress work: the campaign is another command's.
  bool serves_other_command() const {
    return options_.executor == "recorded" || options_.executor == "background";
  }
  std::string array_file() const;

  // The thread (cluster_array.cc):
  void follow();
  bool submit_array();
  void watch_array();
  std::string failed_text(u64 number, const cluster::ArrayTask& task) const;
  void report_changes(u64 number, const cluster::ArrayTask& task);
  void report_unseen(u64 number, const cluster::ArrayTask& task, bool heard);
  /// What the live line says of the array's tasks.
  static void show_array(const std::string& text);
  void tell(const std::string& text);

  ClusterOptions options_;
  ClusterJob job_;
  std::atomic<bool>* stop_ = nullptr;
  std::shared_ptr<cluster::Coordinator> coordinator_;
  std::optional<cluster::Folder> folder_;
  cluster::CampaignFile campaign_;
  std::thread thread_;
  std::atomic<bool> over_{false};
  // Of the thread, and before and after it:
  std::string array_;  // its job's number; "": none
  std::map<u64, cluster::ArrayTask> tasks_;
  double asked_ = 0, started_ = 0, submitted_ = 0;
  bool explained_ = false;        // how workers are started
  std::map<u64, double> unseen_;  // tasks that run, and from when on no worker was heard of
};

/// For the live line of any command: "" or ", 3 of 4 workers".
std::string cluster_text();

}  // namespace duress::cli

#endif  // DURESS_CLI_CLUSTER_SESSION_H_
