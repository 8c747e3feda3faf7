// SPDX-License-Identifier: Apache-2.0
//
// A chain of analyses over a whole trace.
#pragma once

#include <functional>
#include <string>

#include "finding/log_record.h"
#include "trace/trace_input.h"

namespace duress::trace {

struct AnalyzeOptions {
  std::string chain = "FastTrack";
  bool predict = false;  // with SyncP too
  bool steps = false;    // analyses that support it print their state after each event
  bool stats = false;    // their counters are in the log
};

struct Analyzed {
  std::string problem;  // the chain cannot be built; then the rest means nothing
  finding::RunLog log;
  std::uint64_t events = 0;
  double seconds = 0, processor_seconds = 0;
  bool complete = true;  // SyncP looked at every pair
};

/// `print` takes the lines of analyses as they come.
Analyzed analyze(TraceInput& input, const AnalyzeOptions& options,
                 const std::function<void(const std::string&)>& print);

/// What was found in a text trace, a line each: its places are numbers, its names its own.
std::string findings_text(const finding::RunLog& log, const TraceInput& input);

}  // namespace duress::trace
