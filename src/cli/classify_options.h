// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "classify/classify.h"
#include "cli/campaign_options.h"
#include "cli/tsan_output.h"

namespace duress::cli {

/// What was typed, and what it is translated into.
struct ClassifyOptions : CampaignOptions, SuppressionOptions, FormatOptions, TimeoutOptions {
  classify::ClassifySetup setup;
  std::string model, heuristic, only, test;
  bool stats = false, allow_none = false;
  std::optional<bool> advice;  // not given: where it is cheap
};

/// Reads the command line. An exit code if that is all: help was asked for, or a message was printed.
std::optional<int> read_classify_options(const Arguments& arguments, ClassifyOptions& options);

}  // namespace duress::cli
