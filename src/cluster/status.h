// SPDX-License-Identifier: Apache-2.0
//
// How a campaign on several machines stands, read from what its workers and its driver wrote.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cluster/folder.h"
#include "cluster/shard_log.h"
#include "cluster/slurm.h"

namespace duress::cluster {

/// One worker, by its record.
struct WorkerStatus {
  explicit WorkerStatus(const std::string& path) : reader(path, 0) {}
  LogReader reader;
  u64 shard = 0, of = 0, runs = 0;
  std::string host, state = "silent";  // works, ended, failed, silent
  std::string why;

  /// Reads on. With `again` a worker that has written something since the last look is alive; clocks of
  /// different machines are never compared.
  void look(bool again);
};

struct CampaignStatus {
  CampaignFile campaign;
  std::optional<DriverFile> driver;
  bool driven = false;
  std::map<std::string, WorkerStatus> workers;
  std::string array;
  std::map<u64, ArrayTask> tasks;

  u64 runs() const;
  std::string state() const { return campaign.finished ? "finished" : driven ? "running" : "not driven"; }
  /// Reads on; the second look tells what is alive.
  void look(const Folder& folder, bool again);
};

std::string text_of(const CampaignStatus& status);
/// The document of `duress status --json`.
std::string document_of(const CampaignStatus& status);

}  // namespace duress::cluster
