// SPDX-License-Identifier: Apache-2.0
//
// --executor and what belongs to it: which processes perform the executions of a campaign.
#ifndef DURESS_CLI_CLUSTER_OPTIONS_H_
#define DURESS_CLI_CLUSTER_OPTIONS_H_

#include "cli/command_app.h"
#include "cluster/session.h"

namespace duress::cli {

/// Adds the options to a command's own.
void add_cluster_options(CommandApp& app, cluster::SessionOptions& options);
/// Only those that `duress test` hands on: a job array per case, or everything here.
void add_slurm_options(CommandApp& app, cluster::SessionOptions& options);

}  // namespace duress::cli

#endif  // DURESS_CLI_CLUSTER_OPTIONS_H_
