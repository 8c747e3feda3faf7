// SPDX-License-Identifier: Apache-2.0
//
// `duress work`: one worker of a campaign on several machines. Slurm's job array starts it, or GNU parallel,
// Kubernetes, or a user.
#include <fmt/format.h>

#include <cstdlib>

#include "cli/command_app.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/stop.h"
#include "cluster/driver.h"
#include "cluster/shard_worker.h"
#include "exec/work_folder.h"

namespace duress::cli {
namespace {

/// "2/8"
bool parse_shard(const std::string& text, u64& shard, u64& of) {
  char* end = nullptr;
  shard = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str() || *end != '/') return false;
  const char* second = end + 1;
  of = std::strtoull(second, &end, 10);
  return end != second && *end == '\0' && shard >= 1 && shard <= of && of <= 1000000;
}

}  // namespace

int work_command(const Arguments& arguments) {
  cluster::ShardOptions options;
  DirOptions folder;
  std::string shard, time;
  CommandApp app("work", "Performs a share of the executions of a campaign that other machines work on too.");
  folder.add_dir(app, "The folder of the campaign, which all machines see");
  app.add_option("--shard", shard, "Which of how many workers: 2/8")
      .required()
      .checked([](const std::string& text) {
        u64 one = 0, of = 0;
        return parse_shard(text, one, of)
                   ? std::string()
                   : fmt::format("invalid shard '{}'; use 2/8 for the second of eight", text);
      });
  app.add_option("--time", time, "End after this long: 30m, 2h").time();
  app.footer(
      "Ends when the campaign is finished, when the time is up, or on SIGTERM; may be started again or "
      "twice.\n"
      "0: it ended as it should; 2: wrong use; 125: it cannot work, and says why.\n\n"
      "  duress classify --executor shared --dir /shared/d -- ./cache     # on one machine\n"
      "  parallel duress work --dir /shared/d --shard {}/8 ::: $(seq 8)   # wherever workers shall run");
  if (std::optional<int> code = app.read(arguments)) return *code;
  parse_shard(shard, options.shard, options.of);
  if (!time.empty()) {
    if (std::optional<int> code = app.reject(read_time(time, options.seconds))) return *code;
  }
  options.dir = folder.absolute_dir();
  exec::WorkFolder work(cluster::local_folder());
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  options.work_folder = work.path();
  catch_signals(/*once=*/false);
  cluster::Driver driver(options.dir, options.shard, say);
  options.driven = [&](bool abandoned) { driver.look(abandoned); };
  cluster::ShardResult result = cluster::ShardWorker(options, stop_asked).run();
  if (!result.problem.empty()) {
    say(result.problem);
    return kExitToolFailed;
  }
  say(fmt::format("worker {}/{} performed {} executions; {}", options.shard, options.of, result.executions,
                  result.reason));
  return kExitOk;
}

}  // namespace duress::cli
