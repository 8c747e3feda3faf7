// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/campaign_options.h"
#include "search/search.h"

namespace duress::cli {

inline constexpr u64 kNoLimit = u64{1} << 40;  // runs, if the time is the limit

struct ExploreOptions : CampaignOptions, TimeoutOptions {
  search::SearchSetup setup;
  std::string points = "sync", backend = "fiber", model = "sc", heuristic;
  bool no_minimise = false;
};

/// Reads the command line. An exit code if that is all: help was asked for, or a message was printed.
std::optional<int> read_explore_options(const Arguments& arguments, ExploreOptions& options);

}  // namespace duress::cli
