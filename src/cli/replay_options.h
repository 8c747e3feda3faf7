// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "exec/plan.h"

namespace duress::cli {

struct ReplayOptions : ScreenOptions, DirOptions {
  std::string what;  // id, token or @file
  bool trace = false, gdb = false;
  bool for_gdb = false;  // a gdb that runs has started us (replay_gdb.h)
  std::string backend = "fiber", run_timeout;
  u64 times = 1;
  exec::OracleOptions oracle;
  std::vector<std::string> target;
  // What the id or token stands for:
  exec::Plan plan;
  std::string folder;    // to start it in; "": ours
  std::string input;     // "": none
  std::string expected;  // the recorded failure's id; "": not known
  double run_seconds = 10;
};

/// Reads the command line and the record. An exit code if that is all: help was asked for, or a message was
/// printed.
std::optional<int> read_replay_options(const Arguments& arguments, ReplayOptions& options);

}  // namespace duress::cli
