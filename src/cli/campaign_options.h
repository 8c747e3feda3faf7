// SPDX-License-Identifier: Apache-2.0
//
// The options that classify, explore and verify share, and their translation into the setup of a campaign.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster_options.h"
#include "cli/options.h"
#include "exec/campaign_setup.h"

namespace duress::cli {

struct CampaignOptions : OutputOptions, DirOptions, BudgetOptions, GateOptions {
  struct Help {
    BudgetOptions::Help budget;
    const char* fail_on;  // its default
    const char* fail_on_help;
    const char* quiet;
    const char* verbose;
    const char* dir = "Folder for findings and records";
  };

  cluster::SessionOptions cluster;
  std::vector<std::string> target;

  void add_campaign(CommandApp& app, exec::CampaignSetup& setup, u64& runs, const Help& help);
  /// Translates the options into the setup. "" or what is wrong.
  std::string check_campaign(exec::CampaignSetup& setup, const std::string& default_timeout = "10s");
};

}  // namespace duress::cli
