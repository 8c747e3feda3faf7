// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/options.h"
#include "collide/tracer.h"
#include "finding/race.h"

namespace duress::cli {

struct CollideOptions : OutputOptions, DirOptions, SuppressionOptions {
  std::string overhead = "5%", rate, duration, delay = "1ms", hide, fail_on = "race";
  std::int64_t seed = 1;
  std::string pid;
  bool halt = false, include_volatile = false, untyped = false, no_watchpoints = false;
  collide::TraceOptions trace;
  std::set<finding::Category> hidden;
};

/// Reads the command line. An exit code if that is all: help was asked for, or a message was printed.
std::optional<int> read_collide_options(const Arguments& arguments, CollideOptions& options);

}  // namespace duress::cli
