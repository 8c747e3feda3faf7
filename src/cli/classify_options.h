// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_CLI_CLASSIFY_OPTIONS_H_
#define DURESS_CLI_CLASSIFY_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "classify/classify.h"
#include "cli/cluster_options.h"
#include "cli/options.h"

namespace duress::cli {

/// What was typed, and what it is translated into.
struct ClassifyOptions : OutputOptions, DirOptions, BudgetOptions, GateOptions {
  classify::ClassifySetup setup;
  ClusterOptions cluster;
  std::string model, heuristic, only;
  std::vector<std::string> suppressions;
  std::string start_in, test, format = "text", log_path;
  std::vector<std::string> environment;
  bool stats = false, allow_none = false;
  std::optional<bool> advice;  // not given: where it is cheap
  std::vector<std::string> target;
};

/// Reads the command line. An exit code if that is all: help was asked for, or a message was printed.
std::optional<int> read_classify_options(const Arguments& arguments, ClassifyOptions& options);

}  // namespace duress::cli

#endif  // DURESS_CLI_CLASSIFY_OPTIONS_H_
