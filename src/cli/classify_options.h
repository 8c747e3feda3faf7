// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_CLI_CLASSIFY_OPTIONS_H_
#define DURESS_CLI_CLASSIFY_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "classify/classify.h"
#include "cli/cluster_session.h"
#include "cli/commands.h"
#include "cli/gate.h"
#include "cli/report_files.h"

namespace duress::cli {

/// What was typed, and what is meant by it.
struct ClassifyOptions {
  classify::ClassifySetup setup;
  ReportFiles files;
  ClusterOptions cluster;
  std::string json, dir = ".duress", color = "auto", fail_on = "destructive", time, run_timeout = "10s";
  std::string model, heuristic, only, baseline;
  Baseline known;
  std::vector<std::string> suppressions;
  std::string start_in, test, format = "text", log_path;
  std::vector<std::string> environment;
  std::int64_t seed = 1;
  bool quiet = false, verbose = false, stats = false, allow_none = false;
  std::optional<bool> advice;  // not said: where it is cheap
  std::vector<std::string> target;
};

/// Reads the command line. An exit code if that is all: help was wanted, or something is wrong and was said.
std::optional<int> read_classify_options(const Arguments& arguments, ClassifyOptions& options);

}  // namespace duress::cli

#endif  // DURESS_CLI_CLASSIFY_OPTIONS_H_
