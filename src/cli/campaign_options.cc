// SPDX-License-Identifier: Apache-2.0
#include "cli/campaign_options.h"

#include "cli/command_app.h"

namespace duress::cli {

void CampaignOptions::add_campaign(CommandApp& app, exec::CampaignSetup& setup, u64& runs, const Help& help) {
  setup.jobs = 0;
  add_budget(app, runs, setup.jobs, help.budget);
  add_oracle(app, setup.oracle);
  add_gate(app, help.fail_on, help.fail_on_help);
  add_output(app, help.quiet, help.verbose);
  add_dir(app, help.dir);
  add_cluster_options(app, cluster);
}

std::string CampaignOptions::check_campaign(exec::CampaignSetup& setup, const std::string& default_timeout) {
  setup.dir = absolute_dir();
  std::string error = load_baseline();
  if (error.empty())
    error = check_budget(setup.seconds, setup.worker.run_seconds, setup.jobs, default_timeout);
  if (error.empty()) error = check_oracle(setup.oracle);
  return error.empty() ? check_output() : error;
}

}  // namespace duress::cli
