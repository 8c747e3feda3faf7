// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster_options.h"

#include "cli/command_app.h"

namespace duress::cli {
namespace {

void add_workers(CommandApp& app, cluster::SessionOptions& options) {
  app.add_option("--workers", options.workers, "With --executor: how many workers")
      .between(u64{1}, u64{100000});
  app.add_option("--partition", options.partition, "With --executor slurm: Slurm's partition");
  app.add_option("--sbatch-args", options.sbatch_args,
                 "With --executor slurm: an extra argument for sbatch; may be repeated")
      .one_at_a_time();
}

}  // namespace

void add_cluster_options(CommandApp& app, cluster::SessionOptions& options) {
  // recorded and background are what duress merge and duress work give to the command that they start.
  app.add_option("--executor", options.executor,
                 "Where executions run: local (default: this machine), slurm (a job array), or shared "
                 "(workers that you start with duress work)")
      .one_of({"local", "slurm", "shared", "recorded", "background"});
  add_workers(app, options);
  app.add_flag("--cancel", options.cancel, "With --executor slurm: end the job array of this campaign");
  app.add_option("--from", options.from, "With --executor recorded: folders with results")
      .one_at_a_time()
      .hidden();
}

void add_slurm_options(CommandApp& app, cluster::SessionOptions& options) {
  app.add_option("--executor", options.executor,
                 "Where executions run: local (default: this machine) or slurm: a job array for each case, "
                 "one case after the other")
      .one_of({"local", "slurm"});
  add_workers(app, options);
}

}  // namespace duress::cli
