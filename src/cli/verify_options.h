// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_CLI_VERIFY_OPTIONS_H_
#define DURESS_CLI_VERIFY_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/campaign_options.h"
#include "verify/verifier.h"

namespace duress::cli {

struct VerifyOptions : CampaignOptions {
  verify::VerifySetup setup;
  std::string model = "sc", order = "run-on";
  bool no_advice = false, weaken = false;
};

/// Reads the command line. An exit code if that is all: help was asked for, or a message was printed.
std::optional<int> read_verify_options(const Arguments& arguments, VerifyOptions& options);

}  // namespace duress::cli

#endif  // DURESS_CLI_VERIFY_OPTIONS_H_
