// SPDX-License-Identifier: Apache-2.0
//
// --executor and what belongs to it: which processes perform the executions of a campaign.
#ifndef DURESS_CLI_CLUSTER_OPTIONS_H_
#define DURESS_CLI_CLUSTER_OPTIONS_H_

#include <string>
#include <vector>

#include "base/types.h"
#include "cli/command_app.h"

namespace duress::cli {

struct ClusterOptions {
  std::string executor = "local";
  u64 workers = 0;
  std::string partition;
  std::vector<std::string> sbatch_args;
  bool cancel = false;
  std::vector<std::string> from;  // recorded: folders with results
};

/// Adds the options to a command's own.
void add_cluster_options(CommandApp& app, ClusterOptions& options);
/// Only those that `duress test` hands on: a job array per case, or everything here.
void add_slurm_options(CommandApp& app, ClusterOptions& options);

}  // namespace duress::cli

#endif  // DURESS_CLI_CLUSTER_OPTIONS_H_
