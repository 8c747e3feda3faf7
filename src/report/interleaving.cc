// SPDX-License-Identifier: Apache-2.0
#include "report/interleaving.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "report/replaced_loads.h"
#include "report/trace_text.h"

namespace duress::report {
namespace {

// With the indent of its finding, which takes the place of its own, two columns fit into 80.
constexpr std::size_t kWidth = 80;
constexpr std::size_t kMostRows = 12;  // more than that is what `duress replay --trace` is for

struct Shown {
  TraceRow row;
  finding::Address object = 0;
  bool write = false, replaced = false;
};

u64 bits_of(const finding::Step& step) {
  return std::strtoull(step.value.c_str(), nullptr, 0);
}

/// The accesses, with what they saw.
std::vector<Shown> accesses(const finding::RunLogs& logs, const finding::ProcessLog& process,
                            const trail::Record& record, finding::Names& names) {
  ReplacedLoads replaced(logs, process, record);
  std::map<finding::Address, u64> memory;  // what was last stored or seen
  std::vector<Shown> shown;
  for (const finding::Step& step : logs.steps) {
    bool write = step.operation == "write";
    if ((!write && step.operation != "read") || !step.site) continue;
    Shown one{trace_row(step, process, names), step.object, write, false};
    if (write && !step.value.empty()) {
      auto before = memory.find(step.object);
      if (before != memory.end() && before->second != bits_of(step)) {
        u64 old[2] = {before->second, 0};
        one.row.what += "  (was " + value_text(old, static_cast<u32>(step.size), step.type) + ")";
      }
      memory[step.object] = bits_of(step);
    } else if (const trail::Replaced* wanted = write ? nullptr : replaced.at(step)) {
      one.row.what += wanted->future != 0 ? "  (future)" : "  (stale)";
      one.replaced = true;
    }
    if (!write && !one.replaced && !step.value.empty()) memory[step.object] = bits_of(step);
    shown.push_back(std::move(one));
  }
  return shown;
}

/// Which of many rows matter: the first replaced loads, the last store before each and the first after it
/// (a stale load did not see the one, a value of the future is the other), and what came last.
std::vector<bool> chosen(const std::vector<Shown>& shown) {
  std::vector<bool> keep(shown.size(), shown.size() <= kMostRows);
  if (shown.size() <= kMostRows) return keep;
  std::size_t found = 0;
  for (std::size_t i = 0; i < shown.size() && found < 3; ++i) {
    if (!shown[i].replaced) continue;
    ++found;
    keep[i] = true;
    auto store = [&](std::size_t at) { return shown[at].write && shown[at].object == shown[i].object; };
    for (std::size_t before = i; before-- > 0;) {
      if (!store(before)) continue;
      keep[before] = true;
      break;
    }
    for (std::size_t after = i + 1; after < shown.size(); ++after) {
      if (!store(after)) continue;
      keep[after] = true;
      break;
    }
  }
  keep[shown.size() - 1] = keep[shown.size() - 2] = true;
  return keep;
}

}  // namespace

std::string short_text(const finding::Failure& failure) {
  if (failure.kind.rfind("signal:", 0) == 0) return failure.kind.substr(7);
  if (failure.kind.rfind("exit:", 0) == 0) return "exit code " + failure.kind.substr(5);
  if (failure.kind == "output") return "another output";
  return failure.text.empty() ? failure.kind : failure.text;
}

std::vector<std::string> interleaving(const finding::RunLogs& logs, const trail::Record& record,
                                      const finding::Failure& failure, finding::Names& names) {
  const finding::ProcessLog* process = logs.process();
  if (process == nullptr) return {};
  std::vector<Shown> shown = accesses(logs, *process, record, names);
  if (shown.empty()) return {};
  std::vector<bool> keep = chosen(shown);
  std::vector<TraceRow> rows;
  bool gap = false;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!keep[i]) {
      gap = true;
      continue;
    }
    if (gap) rows.push_back({shown[i].row.strand, "", 0, "…"});
    gap = false;
    rows.push_back(shown[i].row);
  }
  // A crash and an exit code have a thread and a place; an output is the whole program's.
  if (!process->crashes.empty()) {
    TraceRow last{process->crashes.back().thread, failure.place.file, failure.place.line, ""};
    last.what = names.clean(short_text(failure));
    rows.push_back(std::move(last));
  }

  std::vector<std::string> lines;
  std::string text = rows_text(rows, strands_of(rows, logs), names, kWidth);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    at += text.compare(at, 2, "  ") == 0 ? 2 : 0;  // the indent is the caller's
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace duress::report
