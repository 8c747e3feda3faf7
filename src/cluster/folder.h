// SPDX-License-Identifier: Apache-2.0
//
// The folder that a coordinator and its workers share. Everything in it has one writer:
//
//   <dir>/cluster/current               number of the campaign's folder, N below
//   <dir>/cluster/N/campaign.json       the campaign; replaced as a whole by its driver
//   <dir>/cluster/N/driver.json         that a driver is alive, and its progress
//   <dir>/cluster/N/specs/HASH.json     a program as it is to be started
//   <dir>/cluster/N/inputs/HASH         standard input of programs
//   <dir>/cluster/N/queue/EPOCH/NAME    requests to worker NAME, by the driver
//   <dir>/cluster/N/shards/NAME         results of worker NAME
//   <dir>/cluster/N/slurm/              the job array and its tasks' output
//
// A file is replaced by renaming, or appended to by its one writer (shard_log.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"

namespace duress::exec {
struct WorkerOptions;
}

namespace duress::cluster {

/// campaign.json.
struct CampaignFile {
  u64 epoch = 0;                       // grows with each process that drives it
  bool finished = false;               // workers are not needed any more
  bool complete = false;               // and was reported: the same command starts a new one
  std::string protocol, version;       // of duress
  std::string command;                 // "classify"
  std::vector<std::string> arguments;  // of the command, without those about clusters
  std::vector<std::string> target;
  std::string folder;                    // where it was typed
  std::string input;                     // of the programs, below the folder; "": none
  std::vector<std::string> environment;  // of the programs
  bool same_campaign(const CampaignFile& other) const {
    return command == other.command && target == other.target && folder == other.folder;
  }
};

/// driver.json: written every second by the driver.
struct DriverFile {
  u64 epoch = 0, beat = 0;
  std::string host;
  long pid = 0;
  u64 done = 0, waiting = 0, reused = 0;  // executions
};

/// specs/HASH.json.
struct Spec {
  std::vector<std::string> target;
  std::string input, chain;
  double run_seconds = 10;
  std::string binary, build;  // path, and build id or a hash
};

class Folder {
 public:
  /// `path`: .../cluster/N
  explicit Folder(std::string path) : path_(std::move(path)) {}

  /// The campaign's folder below `dir`; nothing if there is none.
  static std::optional<Folder> current(const std::string& dir);
  /// A new one for this campaign, which is then the current one. `error`: "" or what went wrong.
  static Folder make(const std::string& dir, const CampaignFile& campaign, std::string& error);

  const std::string& path() const { return path_; }
  std::string shards() const { return path_ + "/shards"; }
  std::string queue(u64 epoch) const { return path_ + "/queue/" + std::to_string(epoch); }
  std::string slurm() const { return path_ + "/slurm"; }

  /// "" or that it belongs to another user: what it says would be run. Files of others are not read.
  std::string owner_problem() const;
  std::optional<CampaignFile> campaign() const;
  std::string save(const CampaignFile& campaign) const;
  std::optional<DriverFile> driver() const;
  std::string save(const DriverFile& driver) const;

  /// Keeps what a program needs to be started; `hash` then names it.
  std::string save_spec(const exec::WorkerOptions& options, u64& hash) const;
  std::optional<Spec> spec(u64 hash) const;
  /// Names of all workers so far, sorted.
  std::vector<std::string> workers() const;

 private:
  std::string path_;
};

std::string host_name();
/// A folder that only this user on this machine uses.
std::string local_folder();
std::string hex(u64 number);

}  // namespace duress::cluster
