// SPDX-License-Identifier: Apache-2.0
#include "report/trace_text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "finding/text.h"
#include "report/access_text.h"
#include "trail/value_text.h"

namespace duress::report {
namespace {

constexpr std::size_t kLeastColumn = 18;  // ":123 variable = 42" just fits
constexpr std::size_t kMostColumn = 44;
constexpr const char* kBar = " │ ";

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

/// The row's text with at least `least` columns of its name's end, if it has to be shorter than it is.
std::string with_short_name(const std::string& place, const TraceRow& row, std::size_t width,
                            std::size_t least) {
  std::string text = place + row.what;
  std::size_t have = columns(text);
  if (have <= width || row.name_size == 0) return text;
  std::string name = row.what.substr(row.name_at, row.name_size);
  std::size_t length = columns(name), excess = have - width + 1;  // and the mark
  std::size_t kept = std::max(least, length > excess ? length - excess : 0);
  if (kept + 1 >= length) return text;
  std::size_t at = 0;
  for (std::size_t skipped = 0; at < name.size(); ++at) {
    if ((name[at] & 0xc0) != 0x80 && skipped++ == length - kept) break;
  }
  return place + row.what.substr(0, row.name_at) + "…" + name.substr(at) +
         row.what.substr(row.name_at + row.name_size);
}

/// What follows the name, with the ends of long addresses only: "0x7ffff0a2d010" → "…d010". Those of one
/// execution mostly begin alike.
TraceRow with_short_values(const TraceRow& row) {
  constexpr std::size_t kKept = 4;
  std::size_t after = row.name_at + row.name_size;
  TraceRow shorter = row;
  shorter.what = row.what.substr(0, after);
  for (std::size_t i = after; i < row.what.size();) {
    std::size_t end = i + 2;
    if (row.what.compare(i, 2, "0x") == 0)
      while (end < row.what.size() && std::isxdigit(static_cast<unsigned char>(row.what[end])) != 0) ++end;
    if (end > i + 2 + kKept + 1) {
      shorter.what += "…" + row.what.substr(end - kKept, kKept);
      i = end;
    } else if (row.what.compare(i, 3, "  (") == 0) {
      ++i;
    } else {
      shorter.what += row.what[i++];
    }
  }
  return shorter;
}

/// `place` and what the row says in at most `width` columns: the beginning of a long name is left out, then
/// the beginning of addresses; the operation, other values and marks stay.
std::string shortened(const std::string& place, const TraceRow& row, std::size_t width) {
  constexpr std::size_t kLeastName = 4;
  std::string text = with_short_name(place, row, width, kLeastName);
  if (columns(text) <= width) return text;
  TraceRow shorter = with_short_values(row);
  text = with_short_name(place, shorter, width, kLeastName);
  return columns(text) <= width ? text : with_short_name(place, shorter, width, 1);
}

std::string value_of(const finding::Step& step) {
  if (step.value.empty()) return {};
  u64 value[2] = {std::strtoull(step.value.c_str(), nullptr, 0), 0};
  return value_text(value, static_cast<u32>(step.size), step.type);
}

}  // namespace

std::string value_text(const u64* value, u32 size, trail::ValueType type) {
  char text[40];
  if (type == trail::ValueType::kFloat && (size == 4 || size == 8)) {
    float half;
    double number;
    std::memcpy(&half, value, sizeof half);
    std::memcpy(&number, value, sizeof number);
    std::snprintf(text, sizeof text, "%.*g", size == 4 ? 9 : 17, size == 4 ? half : number);
    double shorter = std::strtod(text, nullptr);
    for (int digits = 1; digits < (size == 4 ? 9 : 17); ++digits) {  // the fewest that say the same number
      char few[40];
      std::snprintf(few, sizeof few, "%.*g", digits, shorter);
      if (size == 4 ? std::strtof(few, nullptr) == half : std::strtod(few, nullptr) == number) return few;
    }
    return text;
  }
  if (type == trail::ValueType::kPointer && value[0] == 0) return "null";
  if (size > 8 && value[1] != 0) {
    std::snprintf(text, sizeof text, "0x%llx%016llx", static_cast<unsigned long long>(value[1]),
                  static_cast<unsigned long long>(value[0]));
    return text;
  }
  trail::ShownInteger shown = trail::shown_integer(value[0], size);
  if (shown.decimal) return std::to_string(shown.number);
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(shown.bits));
  return text;
}

StepNames step_names(const finding::Step& step, const finding::ProcessLog& process, finding::Names& names) {
  StepNames named;
  if (step.site) {
    finding::NamedSite site = names.site_at(process, *step.site, step.object);
    named.file = site.frame.file;
    named.line = site.frame.line;
    named.object = site.variable;
    named.library = site.frame.library;
  } else if (step.place != 0) {
    std::vector<finding::Frame> stack =
        names.stack(process, step.stack.empty() ? std::vector{step.place} : step.stack);
    if (!stack.empty()) {
      const finding::Frame& frame = stack[finding::blamed_frame(stack)];
      if (!frame.library) {
        named.file = frame.file;
        named.line = frame.line;
      }
    }
  }
  const std::string& op = step.operation;
  bool thread = op == "join" || op == "create" || op == "start" || op == "end" || op == "yield";
  if (named.object.empty() && step.object != 0 && !thread) named.object = names.object(process, step.object);
  return named;
}

TraceRow trace_row(const finding::Step& step, const finding::ProcessLog& process, finding::Names& names) {
  StepNames named = step_names(step, process, names);
  TraceRow row{step.strand, named.file, named.line, ""};
  std::string object = names.clean(named.object);
  const std::string& op = step.operation;
  bool reads = op == "read" || op == "atomic read", writes = op == "write" || op == "atomic write";
  std::string value = value_of(step);
  if (!step.newest.empty()) value += " (stale, newest " + value_text(step.newest, step.size) + ")";
  if (reads || writes)
    row.what = object + (value.empty() ? (reads ? " read" : " written") : (reads ? " → " : " = ") + value);
  else
    row.what = op + (object.empty() ? "" : " " + object) + (value.empty() ? "" : " = " + value);
  row.name_at = reads || writes ? 0 : op.size() + 1;
  row.name_size = object.size();
  return row;
}

std::string value_text(const std::string& text, u64 size) {
  if (text.empty()) return {};
  u64 value[2] = {std::strtoull(text.c_str(), nullptr, 0), 0};
  return value_text(value, static_cast<u32>(size));
}

std::map<int, std::string> strands_of(const std::vector<TraceRow>& rows, const finding::RunLogs& logs) {
  std::map<int, std::string> strands;
  for (const TraceRow& row : rows) strands[row.strand];
  for (const finding::Step& step : logs.steps) {
    if (auto it = strands.find(step.strand); it != strands.end() && !step.name.empty())
      it->second = step.name;
  }
  const finding::ProcessLog* process = logs.process();
  for (auto& [strand, name] : strands) {
    if (!name.empty() || process == nullptr) continue;
    if (auto it = process->threads.find(strand); it != process->threads.end()) name = it->second.name;
  }
  return strands;
}

std::string rows_text(const std::vector<TraceRow>& rows, const std::map<int, std::string>& strands,
                      finding::Names& names, std::size_t width, const std::string& home) {
  std::set<std::string> files;
  for (const TraceRow& row : rows) {
    if (!row.file.empty()) files.insert(row.file);
  }
  // One file needs no name in every row.
  auto text_of = [&](const TraceRow& row, std::size_t most) {
    std::string place;
    if (row.line != 0)
      place = (files.size() > 1 && row.file != home ? names.clean(finding::base_name(row.file)) : "") + ":" +
              std::to_string(row.line) + " ";
    return shortened(place, row, most);
  };
  auto name_of = [&](int strand) {
    auto it = strands.find(strand);
    return thread_text(strand, it == strands.end() ? "" : it->second);
  };
  std::string out;
  if (strands.empty()) return out;
  std::size_t count = strands.size();
  std::size_t column = (std::max<std::size_t>(width, 20) - 2) / count;
  column = column > 3 ? column - 3 : 0;
  if (column < kLeastColumn) {
    for (const TraceRow& row : rows) {
      std::size_t most = std::max<std::size_t>(width, 20);
      std::string text = fitted(name_of(row.strand), 16) + " " + text_of(row, most > 17 ? most - 17 : 0);
      out += (columns(text) > width ? fitted(text, most) : text) + "\n";
    }
    return out;
  }
  std::size_t longest = 0;
  for (const TraceRow& row : rows) longest = std::max(longest, columns(text_of(row, ~std::size_t{0})));
  column = std::min({column, kMostColumn, std::max(longest, kLeastColumn)});
  auto line = [&](const std::function<std::string(int)>& cell) {
    std::string text = "  ";
    std::size_t left = count;
    for (const auto& [strand, name] : strands) text += fitted(cell(strand), column) + (--left ? kBar : "");
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  };
  line([&](int strand) { return name_of(strand); });
  for (const TraceRow& row : rows)
    line([&](int strand) { return strand == row.strand ? text_of(row, column) : std::string(); });
  return out;
}

std::string trace_text(const finding::RunLogs& logs, finding::Names& names, std::size_t width) {
  const finding::ProcessLog* process = logs.process();
  if (process == nullptr || logs.steps.empty()) return {};
  std::vector<TraceRow> rows;
  std::map<std::string, std::size_t> files;
  for (const finding::Step& step : logs.steps) {
    rows.push_back(trace_row(step, *process, names));
    if (!rows.back().file.empty()) ++files[rows.back().file];
  }
  std::string home;  // most rows are about it; of several, the first
  for (const TraceRow& row : rows) {
    if (!row.file.empty() && (home.empty() || files[row.file] > files[home])) home = row.file;
  }
  std::string head = home.empty() ? "" : names.clean(names.shown(home)) + "\n";
  return head + rows_text(rows, strands_of(rows, logs), names, width, home);
}

}  // namespace duress::report
