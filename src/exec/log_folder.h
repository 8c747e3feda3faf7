// SPDX-License-Identifier: Apache-2.0
//
// The folder into which the processes of a target write their logs, and the proof that they could.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "exec/launch.h"
#include "exec/plan.h"
#include "finding/run_logs.h"

namespace duress::exec {

/// Threads: one at a time.
class LogFolder {
 public:
  /// Makes the folder. "" or what went wrong; a disk without room is noticed here.
  std::string make(const std::string& path);
  const std::string& path() const { return path_; }

  /// "" or why the log of that execution is not whole.
  std::string problem(const Execution& execution) const;
  /// "" or why some process could not write its log.
  std::string problem() const;
  /// "" or why the logs of a run outside the scheduler's control are not whole.
  std::string problem(const finding::RunLog& logs, const LaunchResult& run) const;

  finding::RunLogs read(int pid) const;
  /// Name and content of each file. False: one could not be read.
  bool read_files(std::vector<std::pair<std::string, std::string>>& files) const;
  /// Files of another machine. "" or what went wrong.
  std::string write_files(const std::vector<std::pair<std::string, std::string>>& files) const;
  /// Removes the log of that process alone.
  void drop(int pid) const;
  /// Removes all logs but that of process `but`. False: some are still there.
  bool clear(int but) const;

 private:
  std::string log_of(int pid) const { return path_ + "/" + std::to_string(pid) + ".jsonl"; }

  std::string path_;
};

/// "" or which line of the logs cannot be read.
std::string damage_of(const finding::RunLog& logs);

/// "cannot write below FOLDER: REASON; what to do".
std::string cannot_write(const std::string& folder, int error);

}  // namespace duress::exec
