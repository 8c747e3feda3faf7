// SPDX-License-Identifier: Apache-2.0
//
// `duress replay --trace`: an execution as a column per thread, a row per step.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "finding/names.h"
#include "finding/run_logs.h"

namespace duress::report {

/// One step, named.
struct TraceRow {
  int strand = 0;
  std::string file;
  std::uint32_t line = 0;
  std::string what;  // "size_ = 0"
  // The name of the object in `what`: the part that is shortened where a column is too narrow.
  std::size_t name_at = 0, name_size = 0;
};

/// Where a step is, and the name of what it is about; "" where it needs none, as a thread.
struct StepNames {
  std::string file;
  std::uint32_t line = 0;
  std::string object;
  bool library = false;  // the place is not the program's own
};
StepNames step_names(const finding::Step& step, const finding::ProcessLog& process, finding::Names& names);

TraceRow trace_row(const finding::Step& step, const finding::ProcessLog& process, finding::Names& names);
/// The names of the strands that `rows` speak of: those the steps tell, else the log's.
std::map<int, std::string> strands_of(const std::vector<TraceRow>& rows, const finding::RunLogs& logs);
/// A column per strand; with more than fit into `width`, a line per row that begins with its strand. Rows
/// name their file if there are several and it is not `home`, which the caller has named.
std::string rows_text(const std::vector<TraceRow>& rows, const std::map<int, std::string>& strands,
                      finding::Names& names, std::size_t width, const std::string& home = "");
/// The same as below of a number as logs write it, "0x3".
std::string value_text(const std::string& text, u64 size);

/// `width`: columns of the terminal. With more threads than fit, a line per step that begins with its thread.
std::string trace_text(const finding::RunLogs& logs, finding::Names& names, std::size_t width);

/// A value as people write it: a small number as a signed decimal one, else hexadecimal.
std::string value_text(const u64* value, u32 size, trail::ValueType type = trail::ValueType::kInteger);

}  // namespace duress::report
