// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/options.h"
#include "suite/campaign.h"

namespace duress::cli {

struct TestOptions : OutputOptions, DirOptions, BudgetOptions, GateOptions, SuppressionOptions {
  suite::CtestSelection selection;
  suite::Setup setup;
  cluster::SessionOptions cluster;
  std::string model, heuristic;
  int tear = 8;
  bool list = false;
  bool coverage = false;
};

/// Reads the command line. An exit code if that is all: help was asked for, or a message was printed.
std::optional<int> read_test_options(const Arguments& arguments, TestOptions& options);

}  // namespace duress::cli
