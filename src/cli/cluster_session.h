// SPDX-License-Identifier: Apache-2.0
//
// `--executor` of every command that runs campaigns: who performs the executions. For the command it is
// begin(), use() and end(); what is between these is as if it ran everything itself.
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

#include "cli/commands.h"
#include "cluster/coordinator.h"
#include "cluster/slurm.h"
#include "exec/worker.h"

namespace CLI {
class App;
}

namespace duress::cli {

struct ClusterOptions {
  std::string executor = "local";
  u64 workers = 0;
  std::string partition;
  std::vector<std::string> sbatch_args;
  bool cancel = false;
  std::vector<std::string> from;  // recorded: folders with results
};

/// Adds the options to a command's own.
void add_cluster_options(CLI::App& app, ClusterOptions& options);

/// What is to be distributed.
struct ClusterJob {
  std::string command;  // "classify"
  Arguments arguments;  // as they were typed
  std::vector<std::string> target;
  std::string dir;  // absolute: the folder that workers see too
  bool quiet = false;
};

/// Threads: one; it has its own.
class ClusterSession {
 public:
  ClusterSession();
  ~ClusterSession();

  /// Nothing: go on. Else the exit code, and why has been said. `stop` is set when there is nothing to be
  /// waited for any more.
  std::optional<int> begin(const ClusterOptions& options, const ClusterJob& job, std::atomic<bool>& stop);
  bool remote() const { return coordinator_ != nullptr; }
  /// Where this process works: on this machine, if the folder of the campaign is shared with others.
  std::string work_dir(const std::string& dir) const;
  /// Where a record belongs that only one process may open; "": where it always is.
  std::string record_dir() const;
  /// The program's standard input, kept at `path` ("": none), where workers see it.
  std::string input(const std::string& path);
  /// Lets others perform what workers with these options shall do.
  void use(exec::WorkerOptions& worker, unsigned& jobs) const;
  /// The campaign is over (or, with false, was interrupted): tells the workers and says what goes on.
  void end(bool over);

 private:
  void follow();
  void watch_array();
  bool submit_array();
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
  bool told_how_ = false;
  std::map<u64, double> unseen_;  // tasks that run, and from when on no worker was heard of
};

/// For the live line of any command: "" or ", 3 of 4 workers".
std::string cluster_text();

}  // namespace duress::cli

#endif  // DURESS_CLI_CLUSTER_SESSION_H_
