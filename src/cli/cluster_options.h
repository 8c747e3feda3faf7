// SPDX-License-Identifier: Apache-2.0
//
// --executor and what belongs to it: which processes perform the executions of a campaign.
#pragma once

#include "cluster/session.h"

namespace duress::cli {

class CommandApp;

/// Adds the options to a command's own.
void add_cluster_options(CommandApp& app, cluster::SessionOptions& options);
/// Only those that `duress test` hands on: a job array per case, or everything here.
void add_slurm_options(CommandApp& app, cluster::SessionOptions& options);

}  // namespace duress::cli
