// SPDX-License-Identifier: Apache-2.0
#include "finding/run_logs.h"

#include <algorithm>
#include <tuple>

#include "finding/log_reader.h"
#include "trail/site_key.h"

namespace duress::finding {

RunLogs read_run_logs(const std::string& folder, int pid) {
  RunLogs logs;
  logs.pid = pid;
  logs.run = read_log_dir(folder);
  logs.take_control_lines();
  return logs;
}

void RunLogs::take_control_lines() {
  // After exec the same process has several parts, and the last of them says how it ended.
  const ProcessLog* chosen = process();
  if (chosen == nullptr) return;
  for (ProcessLog& part : run.processes) {
    if (part.pid != chosen->pid) continue;
    auto take = [](auto& to, auto& from) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
      from.clear();
    };
    if (part.control.stuck) stuck = std::move(part.control.stuck);
    if (part.control.memory) memory = std::move(part.control.memory);
    take(steps, part.control.steps);
    take(keys, part.control.keys);
    take(stale, part.control.stale);
    take(timeouts, part.control.timeouts);
  }
}

const finding::ProcessLog* RunLogs::process() const {
  for (const finding::ProcessLog& process : run.processes) {
    if (process.pid == pid) return &process;
  }
  return run.processes.empty() ? nullptr : &run.processes.front();
}

namespace {

constexpr const char* kLockOrder = "LockOrder";

/// The pairs of sites of one list of every process, as keys.
class KeyPairs {
 public:
  explicit KeyPairs(const RunLogs& logs) : logs_(logs) {}

  void add(const finding::AccessRecord& a, const finding::AccessRecord& b) { add(key_of(a), key_of(b)); }
  /// Also if only one of them has a key: it is a place to switch.
  void add_any(const finding::AccessRecord& a, const finding::AccessRecord& b) {
    u32 first = key_of(a), second = key_of(b);
    if (first != 0 || second != 0) pairs_.push_back({std::min(first, second), std::max(first, second)});
  }
  void add(u32 first, u32 second) {
    if (first != 0 && second != 0) pairs_.push_back({std::min(first, second), std::max(first, second)});
  }
  /// Sorted, each once.
  std::vector<trail::SitePair> take() {
    auto order = [](const trail::SitePair& a, const trail::SitePair& b) {
      return std::tie(a.first, a.second) < std::tie(b.first, b.second);
    };
    auto same = [](const trail::SitePair& a, const trail::SitePair& b) {
      return a.first == b.first && a.second == b.second;
    };
    std::sort(pairs_.begin(), pairs_.end(), order);
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end(), same), pairs_.end());
    return std::move(pairs_);
  }

 private:
  u32 key_of(const finding::AccessRecord& access) const {
    if (access.access == finding::Access::kFree) return trail::kFreeKey;
    if (!access.site) return 0;
    for (const SiteKey& known : logs_.keys) {
      if (known.site.module == access.site->module && known.site.index == access.site->index)
        return known.key;
    }
    return 0;
  }

  const RunLogs& logs_;
  std::vector<trail::SitePair> pairs_;
};

}  // namespace

std::vector<trail::SitePair> racing_pairs(const RunLogs& logs) {
  KeyPairs pairs(logs);
  for (const finding::ProcessLog& process : logs.run.processes) {
    for (const finding::RaceRecord& race : process.races) pairs.add_any(race.prev, race.cur);
  }
  if (logs.memory) pairs.add_any(logs.memory->accesses.prev, logs.memory->accesses.cur);
  return pairs.take();
}

std::vector<trail::SitePair> suspected_pairs(const RunLogs& logs) {
  KeyPairs pairs(logs);
  for (const finding::ProcessLog& process : logs.run.processes) {
    for (const finding::RaceRecord& race : process.potentials) pairs.add(race.prev, race.cur);
    for (const finding::WarningRecord& warning : process.warnings) {
      if (warning.analysis == kLockOrder) continue;
      for (const finding::AccessRecord& a : warning.sites) {
        for (const finding::AccessRecord& b : warning.sites) {
          if (a.thread < b.thread) pairs.add(a, b);
        }
      }
    }
  }
  return pairs.take();
}

std::vector<trail::SitePair> suspected_deadlocks(const RunLogs& logs) {
  KeyPairs pairs(logs);
  for (const finding::ProcessLog& process : logs.run.processes) {
    for (const finding::WarningRecord& warning : process.warnings) {
      if (warning.analysis != kLockOrder || warning.sites.size() != 2) continue;
      const finding::AccessRecord &a = warning.sites[0], &b = warning.sites[1];
      if (a.locks.empty() || b.locks.empty()) continue;
      // The last of the locks that a side holds is the one it took there; the other side holds it.
      finding::Address first = a.locks.back().address, second = b.locks.back().address;
      pairs.add(trail::lock_key(second, first), trail::lock_key(first, second));
    }
  }
  return pairs.take();
}

}  // namespace duress::finding
