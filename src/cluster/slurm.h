// SPDX-License-Identifier: Apache-2.0
//
// Slurm through its commands sbatch, squeue and scancel: its library differs from version to version.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/types.h"
#include "exec/child.h"

namespace duress::cluster {

/// Runs one of Slurm's commands.
exec::ChildOutput run_command(const std::vector<std::string>& words);
/// What it said went wrong, in one line.
std::string last_line(const exec::ChildOutput& said);

struct ArrayOptions {
  u64 workers = 1;
  std::string partition;
  std::vector<std::string> more;     // further arguments of sbatch
  std::string folder;                // for what tasks print
  std::vector<std::string> command;  // of a worker, up to --shard
};

/// One task of the array as squeue lists it.
struct ArrayTask {
  std::string state;  // "RUNNING"
  u64 restarts = 0;
  std::string reason, node;
  bool ended() const;
  bool failed() const { return ended() && state != "COMPLETED" && state != "CANCELLED"; }
};

/// "" or why nothing can be submitted here.
std::string check_slurm();
/// Submits one job array, a task for each worker. "" or what went wrong; `job` is its number.
std::string submit(const ArrayOptions& options, std::string& job);
/// The tasks that Slurm still knows, by number. False: Slurm does not answer (`error` says what it said).
bool array_tasks(const std::string& job, std::map<u64, ArrayTask>& tasks, std::string& error);
std::string cancel(const std::string& job);

/// What squeue printed with our format.
std::map<u64, ArrayTask> parse_tasks(const std::string& text);
/// The script that sbatch gets.
std::string array_script(const ArrayOptions& options);
/// "1-4, 7"
std::string ranges_text(const std::vector<u64>& numbers);

}  // namespace duress::cluster
