// SPDX-License-Identifier: Apache-2.0
//
// What a Coordinator knows of executions and of workers; shared by its two files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cluster/coordinator.h"
#include "exec/clock.h"

namespace duress::cluster {

inline constexpr std::size_t kDepth = 8;  // executions queued at a worker (bench/scale)
inline constexpr double kOrphaned = 1;    // no caller waits for it any more

using exec::now;

/// An execution that a caller waits for, or did until a moment ago.
struct Coordinator::Wanted {
  Key key;
  std::string payload;  // spec and plan
  std::vector<std::size_t> given_to;
  unsigned waiters = 0;
  bool done = false;
  std::string result;
  double since = 0, left_since = 0;
  Condition ready;
};

/// One worker process: its record and its queue.
struct Coordinator::Peer {
  Peer(std::string file, std::string queue, double patience)
      : name(std::filesystem::path(file).filename()),
        reader(std::move(file), patience),
        writer(std::move(queue)) {}
  std::string name, host;
  u64 shard = 0;
  LogReader reader;
  LogWriter writer;
  bool live = false, bad = false, ended = false;
  double heard = 0;
  u64 damaged = 0;
  std::vector<std::shared_ptr<Wanted>> given;  // oldest first
  std::string title() const { return "worker " + std::to_string(shard) + " on " + host; }
};

}  // namespace duress::cluster
