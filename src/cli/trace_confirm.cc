// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_confirm.h"

#include <fmt/format.h>

#include <atomic>
#include <map>

#include "cli/commands.h"
#include "exec/session.h"
#include "exec/work_folder.h"
#include "report/resolved_names.h"
#include "report/site_keys.h"
#include "search/search.h"

namespace duress::cli {
int confirm(const ConfirmOptions& options, const finding::RunLog& log) {
  std::map<std::pair<u32, u32>, std::string> pairs;
  for (const finding::ProcessLog& process : log.processes) {
    report::SiteKeys keys(process);
    for (const finding::RaceRecord& race : process.races) {
      report::KeyedSite first = keys.find(race.prev.site), second = keys.find(race.cur.site);
      if (first.key != 0 && second.key != 0)
        pairs.emplace(std::minmax(first.key, second.key),
                      fmt::format("{} and {}", first.place, second.place));
    }
  }
  if (pairs.empty()) {
    say("nothing to confirm: no predicted race has two places in instrumented code");
    return kExitOk;
  }
  search::SearchSetup setup;
  setup.dir = options.absolute_dir();
  exec::WorkFolder work(setup.dir);
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  setup.worker.folder = work.path();
  setup.worker.target = options.target;
  setup.worker.input = exec::keep_input(work.path() + "/stdin");
  setup.worker.run_seconds = 10;
  setup.search.strategy = "racefuzzer";
  setup.search.seed = static_cast<u64>(options.seed);
  setup.runs = options.runs;
  setup.keep_going = true;  // the other pairs are tried after a failure too
  setup.minimise = false;
  for (const auto& [pair, text] : pairs) setup.pairs.push_back({pair.first, pair.second});
  report::ResolvedNames names;
  search::SearchListener silent;
  std::atomic<bool> stop{false};
  search::SearchResult result = search::Search(setup, names, silent).run(stop);
  if (result.problem.kind != exec::WorkerProblem::Kind::kNone) {
    say(worker_problem_text(options.target[0], result.problem));
    return kExitToolFailed;
  }
  u64 created = 0;
  for (const auto& [pair, text] : pairs) {
    bool together = result.created.count(pair) != 0;
    created += together ? 1 : 0;
    if (!options.quiet) say(fmt::format("{}: {}", together ? "created" : "unconfirmed", text));
  }
  say(fmt::format("{} of {} predicted pairs created by racefuzzer in {} runs, seed {}", created, pairs.size(),
                  result.runs, options.seed));
  return kExitOk;
}

}  // namespace duress::cli
