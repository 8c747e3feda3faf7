// SPDX-License-Identifier: Apache-2.0
#include "campaign/trace_text.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "campaign/failure_text.h"

namespace duress::campaign {
namespace {

constexpr std::size_t kLeastColumn = 18;  // ":123 variable = 42" just fits
constexpr std::size_t kMostColumn = 44;
constexpr const char* kBar = " │ ";

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

struct Row {
  int strand;
  std::string file;
  std::uint32_t line;
  std::string what;
};

/// Columns that `text` takes: UTF-8's continuation bytes take none.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Cut or filled to `width` columns.
std::string fitted(const std::string& text, std::size_t width) {
  std::size_t have = columns(text);
  if (have <= width) return text + std::string(width - have, ' ');
  std::string cut;
  std::size_t count = 0;
  for (char c : text) {
    if ((c & 0xc0) != 0x80 && ++count > width - 1) break;
    cut += c;
  }
  return cut + "…";
}

Row row_of(const Step& step, const finding::ProcessLog& process, Names& names) {
  Row row{step.strand, "", 0, ""};
  std::string object;
  if (step.site) {
    NamedSite site = names.site_at(process, *step.site, step.object);
    row.file = site.frame.file;
    row.line = site.frame.line;
    object = site.variable;
  } else if (step.place != 0) {
    std::vector<finding::Frame> stack = names.stack(process, {step.place});
    if (!stack.empty()) {
      const finding::Frame& frame = stack[blamed_frame(stack)];
      if (!frame.library) {
        row.file = frame.file;
        row.line = frame.line;
      }
    }
  }
  const std::string& op = step.operation;
  bool reads = op == "read" || op == "atomic read", writes = op == "write" || op == "atomic write";
  bool thread = op == "join" || op == "create" || op == "start" || op == "end" || op == "yield";
  if (object.empty() && step.object != 0 && !thread) object = names.object(process, step.object);
  std::string value = value_text(step.value, step.size);
  if (!step.newest.empty()) value += " (stale, newest " + value_text(step.newest, step.size) + ")";
  if (reads || writes)
    row.what = object + (value.empty() ? (reads ? " read" : " written") : (reads ? " → " : " = ") + value);
  else
    row.what = op + (object.empty() ? "" : " " + object) + (value.empty() ? "" : " = " + value);
  row.what = names.clean(row.what);
  return row;
}

}  // namespace

std::string value_text(const std::string& text, u64 size) {
  if (text.empty()) return {};
  u64 value = std::strtoull(text.c_str(), nullptr, 0);
  if (size == 4 && value >> 31 == 1 && value <= 0xffffffffu && value > 0xffff0000u)
    return std::to_string(static_cast<std::int32_t>(value));  // a small negative number
  if (size == 8 && value > ~u64{0xffff}) return std::to_string(static_cast<i64>(value));
  return value < 1000000 ? std::to_string(value) : text;
}

std::string trace_text(const RunLogs& logs, Names& names, std::size_t width) {
  const finding::ProcessLog* process = logs.process();
  if (process == nullptr || logs.steps.empty()) return {};
  std::vector<Row> rows;
  std::map<int, std::string> threads;
  std::set<std::string> files;
  for (const Step& step : logs.steps) {
    rows.push_back(row_of(step, *process, names));
    std::string& name = threads[step.strand];
    if (!step.name.empty()) name = step.name;
    if (!rows.back().file.empty()) files.insert(rows.back().file);
  }
  for (const Row& row : rows) {
    if (auto it = process->threads.find(row.strand);
        it != process->threads.end() && threads[row.strand].empty())
      threads[row.strand] = it->second.name;
  }
  // One file needs no name in every row.
  auto text_of = [&](const Row& row) {
    std::string place;
    if (row.line != 0)
      place =
          (files.size() > 1 ? names.clean(base_name(row.file)) : "") + ":" + std::to_string(row.line) + " ";
    return place + row.what;
  };

  std::string out;
  if (files.size() == 1) out += names.clean(names.shown(*files.begin())) + "\n";
  std::size_t count = threads.size();
  std::size_t column = (std::max<std::size_t>(width, 20) - 2) / count;
  column = column > 3 ? column - 3 : 0;
  if (column < kLeastColumn) {
    for (const Row& row : rows) {
      std::string text = fitted(strand_text(row.strand, threads[row.strand], names), 16) + " " + text_of(row);
      out += (columns(text) > width ? fitted(text, std::max<std::size_t>(width, 20)) : text) + "\n";
    }
    return out;
  }
  std::size_t longest = 0;
  for (const Row& row : rows) longest = std::max(longest, columns(text_of(row)));
  column = std::min({column, kMostColumn, std::max(longest, kLeastColumn)});
  auto line = [&](const std::function<std::string(int)>& cell) {
    std::string text = "  ";
    std::size_t left = count;
    for (const auto& [strand, name] : threads) text += fitted(cell(strand), column) + (--left ? kBar : "");
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  };
  line([&](int strand) { return strand_text(strand, threads[strand], names); });
  for (const Row& row : rows)
    line([&](int strand) { return strand == row.strand ? text_of(row) : std::string(); });
  return out;
}

}  // namespace duress::campaign
