// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/heuristics.h"
#include "catalog/models.h"
#include "cli/options.h"
#include "cli/tsan_output.h"

namespace duress::cli {

struct RunOptions : OutputOptions, DirOptions, GateOptions, SuppressionOptions, FormatOptions {
  std::string chain = "FastTrack";
  bool free = false, controlled = false, halt = false, stats = false;
  std::int64_t seed = 1;
  std::string volatile_order;
  std::string model = "sc", heuristic;
  ModelId model_number = ModelId::kSc;
  std::optional<HeuristicId> heuristic_number;
  std::vector<std::string> only;
  int tear = 8;
  std::string exit_wait;
  double exit_wait_seconds = 0;
  int findings_code = kExitFindings;  // exitcode of TSAN_OPTIONS is another
  std::vector<std::string> target;
};

/// Reads the command line. An exit code if that is all: help was asked for, or a message was printed.
std::optional<int> read_run_options(const Arguments& arguments, RunOptions& options);

}  // namespace duress::cli
