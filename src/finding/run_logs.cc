// SPDX-License-Identifier: Apache-2.0
//
// The lines of a log that finding/log_reader leaves alone. They come from a process that may be broken, so a
// line that makes no sense is skipped, and every value is checked before it is used.
#include "finding/run_logs.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>

#include "finding/log_reader.h"
#include "trail/site_key.h"

namespace duress::finding {
namespace {

using Json = nlohmann::json;

u64 number_at(const Json& object, const char* key) {
  auto it = object.find(key);
  if (it == object.end()) return 0;
  if (it->is_number_unsigned()) return it->get<u64>();
  if (it->is_number_integer()) return static_cast<u64>(std::max<i64>(0, it->get<i64>()));
  if (it->is_string()) return std::strtoull(it->get_ref<const std::string&>().c_str(), nullptr, 0);
  return 0;
}

int small_at(const Json& object, const char* key) {
  return static_cast<int>(std::min<u64>(number_at(object, key), 1 << 30));
}

std::string text_at(const Json& object, const char* key) {
  auto it = object.find(key);
  if (it == object.end()) return {};
  if (it->is_string()) return it->get<std::string>();
  return it->is_number() ? it->dump() : std::string();
}

const Json& list_at(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  auto it = object.find(key);
  return it != object.end() && it->is_array() ? *it : kEmpty;
}

/// A site is [module, index] as in `race` lines; a bare number is one of the first module's.
std::optional<finding::SiteRecord> site_at(const Json& object) {
  auto it = object.find("site");
  if (it == object.end()) return std::nullopt;
  if (it->is_array() && it->size() == 2 && (*it)[0].is_number_integer() && (*it)[1].is_number_unsigned())
    return finding::SiteRecord{(*it)[0].get<int>(), (*it)[1].get<std::uint32_t>()};
  if (it->is_number_unsigned() && it->get<u64>() != 0 && it->get<u64>() <= 0xffffffffu)
    return finding::SiteRecord{0, it->get<std::uint32_t>()};
  return std::nullopt;
}

Stuck to_stuck(const Json& line) {
  Stuck stuck;
  stuck.outcome = text_at(line, "outcome");
  for (const Json& entry : list_at(line, "strands")) {
    if (!entry.is_object()) continue;
    StuckStrand strand;
    strand.strand = small_at(entry, "strand");
    strand.name = text_at(entry, "name");
    strand.state = text_at(entry, "state");
    strand.operation = text_at(entry, "op");
    strand.object = number_at(entry, "object");
    for (const Json& holder : list_at(entry, "held_by")) {
      if (holder.is_number_integer()) strand.held_by.push_back(holder.get<int>());
    }
    for (const Json& address : list_at(entry, "stack")) {
      if (address.is_string())
        strand.stack.push_back(std::strtoull(address.get_ref<const std::string&>().c_str(), nullptr, 0));
    }
    if (Address place = number_at(entry, "place"); place != 0 && strand.stack.empty())
      strand.stack.push_back(place);
    stuck.strands.push_back(std::move(strand));
  }
  return stuck;
}

Step to_step(const Json& line) {
  Step step;
  step.number = number_at(line, "n");
  step.strand = small_at(line, "strand");
  step.name = text_at(line, "name");
  step.operation = text_at(line, "op");
  step.object = number_at(line, "object");
  step.size = number_at(line, "size");
  step.value = text_at(line, "value");
  if (line.contains("joins")) step.joins = small_at(line, "joins");
  std::string as = text_at(line, "as");
  if (as == "float") step.type = trail::ValueType::kFloat;
  if (as == "pointer") step.type = trail::ValueType::kPointer;
  step.newest = text_at(line, "newest");
  step.site = site_at(line);
  step.place = number_at(line, "place");
  return step;
}

void parse_line(std::string_view text, RunLogs& into) {
  Json line = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return;
  std::string kind = text_at(line, "t");
  if (kind == "stuck") {
    into.stuck = to_stuck(line);
  } else if (kind == "step") {
    into.steps.push_back(to_step(line));
  } else if (kind == "stale") {
    into.stale.push_back({small_at(line, "strand"), site_at(line), number_at(line, "object"),
                          number_at(line, "size"), text_at(line, "value"), text_at(line, "newest")});
  } else if (kind == "points") {
    for (const Json& entry : list_at(line, "sites")) {
      if (!entry.is_object()) continue;
      auto site = site_at(entry);
      if (u64 key = number_at(entry, "key"); site && key != 0 && key <= 0xffffffffu)
        into.keys.push_back({*site, static_cast<u32>(key)});
    }
  }
}

}  // namespace

void parse_extra_lines(std::string_view text, RunLogs& into) {
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return;  // torn: the process was killed in mid-write
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    // Most lines of a log are not for us, and parsing is what costs.
    if (line.find("\"stuck\"") == line.npos && line.find("\"step\"") == line.npos &&
        line.find("\"points\"") == line.npos && line.find("\"stale\"") == line.npos)
      continue;
    parse_line(line, into);
  }
}

RunLogs read_run_logs(const std::string& folder, int pid) {
  RunLogs logs;
  logs.pid = pid;
  logs.run = finding::read_log_dir(folder);
  const finding::ProcessLog* process = logs.process();
  std::string path = folder + "/" + std::to_string(process ? process->pid : pid) + ".jsonl";
  std::ifstream file(path, std::ios::binary);
  parse_extra_lines(std::string(std::istreambuf_iterator<char>(file), {}), logs);
  return logs;
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

  void add(const finding::AccessRecord& a, const finding::AccessRecord& b) {
    add(key_of(a.site), key_of(b.site));
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
  u32 key_of(const std::optional<finding::SiteRecord>& site) const {
    if (!site) return 0;
    for (const SiteKey& known : logs_.keys) {
      if (known.site.module == site->module && known.site.index == site->index) return known.key;
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
    for (const finding::RaceRecord& race : process.races) pairs.add(race.prev, race.cur);
  }
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
