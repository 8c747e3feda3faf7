// SPDX-License-Identifier: Apache-2.0
#include "cli/explore_options.h"

#include "catalog/lookup.h"
#include "catalog/strategies.h"
#include "cli/command_app.h"

namespace duress::cli {
namespace {

/// "" or why no search can be done with it.
std::string check_strategy(const std::string& name) {
  std::optional<StrategyId> strategy = id_of<StrategyId>(name.c_str());
  bool searches = strategy && *strategy != StrategyId::kReplay && *strategy != StrategyId::kExhaustive;
  if (searches || name == "portfolio") return {};
  std::vector<std::string> known = catalog::names<StrategyId>();
  std::erase_if(known, [](const std::string& other) { return other == "replay" || other == "exhaustive"; });
  known.insert(known.begin(), "portfolio");
  return catalog::unknown_name("strategy to search with", name, known);
}

/// Translates the words of the command line into the setup of the search; "" or what is wrong.
std::string check(ExploreOptions& options, bool runs_given) {
  search::SearchSetup& setup = options.setup;
  std::string error =
      catalog::check_model(options.model, options.heuristic, setup.search.model, setup.search.heuristic);
  if (!error.empty()) return error;
  bool threads = options.backend == "thread";
  if (error = options.check_campaign(setup, threads ? "60s" : "10s"); !error.empty()) return error;
  if (setup.seconds > 0 && !runs_given) setup.runs = kNoLimit;
  setup.search.seed = static_cast<u64>(options.seed);
  setup.search.points = options.points == "all" ? trail::Points::kAll : trail::Points::kSync;
  setup.search.backend = threads ? trail::Backend::kThread : trail::Backend::kFiber;
  setup.minimise = !options.no_minimise;
  setup.worker.early_timeouts = options.early_timeouts();
  return {};
}

void add_search(CommandApp& app, ExploreOptions& options) {
  search::SearchSetup& setup = options.setup;
  app.add_option(
         "-t,--tool", setup.worker.chain,
         "Chain of analyses of the runs that look for races; default FastTrack. What analyses only suspect "
         "(Hybrid, LockSet, SideTrack, ...) is attacked too")
      .checked(catalog::check_chain);
  app.add_option("--strategy", setup.search.strategy,
                 "portfolio (default) or one strategy (see duress list strategies)")
      .checked(check_strategy);
  app.add_option("--depth", setup.search.depth, "Depth of the bugs that pct and places look for; default 3")
      .between(1, 1000);
  app.add_option(
         "--points", options.points,
         "Where threads may be switched: sync (default: synchronisation, atomics, racing accesses) or all "
         "(every access)")
      .one_of({"sync", "all"});
  app.add_option("--model", options.model,
                 "Memory model: sc (default), or rc11: atomics as weak as C++20 allows");
  app.add_option("--heuristic", options.heuristic,
                 "Which legal value a load returns (see duress list heuristics); default: all in turn");
  options.add_timeouts(app);
  app.add_option("--max-steps", setup.search.most_steps,
                 "Schedule points after which a run counts as endless");
  app.add_option("--backend", options.backend, "fiber (default) or thread: what runs the program's threads")
      .one_of({"fiber", "thread"});
  add_coverage(app, setup.coverage);
  app.add_flag("--keep-going", setup.keep_going, "Go on after a failure, to find others");
  app.add_flag("--no-minimise,--no-minimize", options.no_minimise, "Show the failing run as it was found");
}

}  // namespace

std::optional<int> read_explore_options(const Arguments& arguments, ExploreOptions& options) {
  search::SearchSetup& setup = options.setup;
  CommandApp app("explore",
                 "Looks for a schedule that makes an instrumented program fail; replays and minimises it.");
  add_search(app, options);
  options.add_campaign(
      app, setup, setup.runs,
      {.budget = {.runs = "How many executions at most; default 1000",
                  .run_timeout = "How long one run may take; default 10s, with --backend thread 60s"},
       .fail_on = "destructive",
       .fail_on_help =
           "destructive (default: any failure), new-destructive, race or never: what makes the exit code 66",
       .quiet = "Only the first line of each failure, and the summary",
       .verbose = "All frames of all stacks"});
  app.footer(
      "Exit code 66: a failure was found; 0: none in all runs; 124: none when the time was over; 2: wrong "
      "use;\n"
      "125: duress itself failed, the program could not be started, or it is not instrumented.\n\n"
      "  duress explore -- ./queue_test\n"
      "  duress explore --time 5m -j 8 --check 'grep -q total=100' -- ./bank 10");
  if (std::optional<int> code = app.read_with_target(arguments, options.target)) return code;
  pass_on_listing(options.target);
  return app.reject(check(options, app.was_given("--runs")));
}

}  // namespace duress::cli
