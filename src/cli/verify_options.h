// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_CLI_VERIFY_OPTIONS_H_
#define DURESS_CLI_VERIFY_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/options.h"
#include "verify/verifier.h"

namespace duress::cli {

struct VerifyOptions : OutputOptions, DirOptions, BudgetOptions, GateOptions {
  verify::VerifySetup setup;
  ClusterOptions cluster;
  std::string model = "sc", order = "run-on";
  bool no_advice = false, weaken = false;
  std::vector<std::string> target;
};

/// Reads the command line. An exit code if that is all: help was asked for, or a message was printed.
std::optional<int> read_verify_options(const Arguments& arguments, VerifyOptions& options);

}  // namespace duress::cli

#endif  // DURESS_CLI_VERIFY_OPTIONS_H_
