// SPDX-License-Identifier: Apache-2.0
#include "report/lanes_text.h"

#include <map>
#include <set>

#include "report/path.h"
#include "report/trace_text.h"

namespace duress::report {
namespace {

using finding::LaneEvent;
using finding::Lanes;
using finding::LaneValue;

bool is_read(const std::string& operation) {
  return operation == "read" || operation == "atomic read";
}

bool is_write(const std::string& operation) {
  return operation == "write" || operation == "atomic write";
}

/// Steps of threads themselves: everybody has them.
bool is_about_threads(const std::string& operation) {
  static const std::set<std::string> words = {"create", "join", "start", "end", "yield"};
  return words.count(operation) != 0;
}

/// Locks that are still held at the end: in a deadlock others wait for them, and a wait that never ends is no
/// event.
std::vector<bool> kept_locks(const Lanes& lanes) {
  std::vector<bool> keep(lanes.events.size(), false);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> held;  // by thread and object
  for (std::size_t i = 0; i < lanes.events.size(); ++i) {
    const LaneEvent& event = lanes.events[i];
    const std::string& operation = lanes.words[event.operation];
    if (operation == "lock") held[{event.thread, event.object}] = i;
    if (operation == "unlock") held.erase({event.thread, event.object});
  }
  for (const auto& [who, at] : held) keep[at] = true;
  return keep;
}

/// Which events several threads have to do with.
std::vector<bool> shared_events(const Lanes& lanes) {
  struct Use {
    std::set<std::uint32_t> threads;
    bool changed = false;
  };
  std::map<std::uint32_t, Use> uses;  // by object
  for (const LaneEvent& event : lanes.events) {
    if (event.object == 0 || is_about_threads(lanes.words[event.operation])) continue;
    // Memory comes and goes at one address in all threads: that alone makes nothing shared.
    if (lanes.words[event.operation] == "free") continue;
    Use& use = uses[event.object];
    use.threads.insert(event.thread);
    use.changed = use.changed || !is_read(lanes.words[event.operation]);
  }
  std::vector<bool> keep = kept_locks(lanes);
  for (std::size_t i = 0; i < lanes.events.size(); ++i) {
    const LaneEvent& event = lanes.events[i];
    auto use = uses.find(event.object);
    bool shared = use != uses.end() && use->second.changed && use->second.threads.size() > 1 &&
                  !is_about_threads(lanes.words[event.operation]);
    keep[i] = keep[i] || shared || lanes.words[event.operation] == "failure";
  }
  return keep;
}

/// The last ones, and the stores that their loads have read.
void keep_last(const Lanes& lanes, std::size_t most, std::vector<bool>& keep) {
  std::size_t count = 0;
  std::set<std::size_t> sources;
  for (std::size_t i = keep.size(); i-- > 0;) {
    if (!keep[i]) continue;
    bool wanted = ++count <= most || sources.count(i) != 0;
    keep[i] = wanted;
    if (wanted && lanes.events[i].from >= 0 && sources.size() < most / 2)
      sources.insert(static_cast<std::size_t>(lanes.events[i].from));
  }
}

TraceRow row_of(const Lanes& lanes, const LaneEvent& event) {
  const finding::LanePlace& place = lanes.places[event.place];
  const std::string &operation = lanes.words[event.operation], &object = lanes.words[event.object],
                    &value = lanes.words[event.value];
  TraceRow row{lanes.threads[event.thread].id, place.file, place.line, ""};
  if (is_read(operation) || is_write(operation)) {
    row.what =
        object +
        (is_read(operation) ? (value.empty() ? " read" : " → ") : (value.empty() ? " written" : " = ")) +
        value;
  } else if (operation == "failure") {
    row.what = object;
    return row;
  } else {
    row.what = operation + (object.empty() ? "" : " " + object) + (value.empty() ? "" : " = " + value);
    row.name_at = operation.size() + 1;
  }
  row.name_size = object.size();
  if (event.how == LaneValue::kStale) row.what += " (stale, newest " + lanes.words[event.newest] + ")";
  if (event.how == LaneValue::kFuture) row.what += " (future)";
  return row;
}

}  // namespace

std::string lanes_text(const Lanes& lanes, std::size_t width, std::size_t most) {
  std::vector<bool> keep = shared_events(lanes);
  keep_last(lanes, most, keep);
  std::vector<TraceRow> rows;
  std::string end;
  bool gap = lanes.skipped != 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    const LaneEvent& event = lanes.events[i];
    if (!keep[i]) {
      gap = gap || !is_about_threads(lanes.words[event.operation]);
      continue;
    }
    if (event.thread == LaneEvent::kEverybody) {
      end = "  " + lanes.words[event.object] + "\n";
      continue;
    }
    if (gap && !rows.empty()) rows.push_back({lanes.threads[event.thread].id, "", 0, "…"});
    gap = false;
    rows.push_back(row_of(lanes, event));
  }
  if (rows.empty()) return "";
  std::map<int, std::string> strands;
  for (const TraceRow& row : rows) strands[row.strand];
  for (const finding::LaneThread& thread : lanes.threads) {
    if (auto it = strands.find(thread.id); it != strands.end()) it->second = thread.name;
  }
  finding::Names names;  // the words are clean
  std::string text = rows_text(rows, strands, names, width) + end;
  if (!lanes.decided.empty()) text += "  the values that were read last, and where they came from:\n";
  for (const std::string& line : lanes.decided) text += "    " + printable(line) + "\n";
  return text;
}

}  // namespace duress::report
