// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.h"

#include <fmt/format.h>

#include <set>

#include "catalog/heuristics.h"
#include "catalog/lookup.h"
#include "cli/command_app.h"
#include "cli/option_error.h"
#include "cli/tsan_options.h"
#include "exec/child.h"
#include "exec/session.h"
#include "report/site_table.h"

namespace duress::cli {
namespace {

/// "" if the program has every variable that --only names; else one line.
std::string check_variables(const RunOptions& options) {
  const std::string& program = options.target[0];
  report::SiteTable table = report::SiteTable::load(exec::program_path(program));
  std::set<std::string> names;
  for (std::uint32_t i = 0; table.size() != 0 && i < table.entries(); ++i) {
    if (const report::Site* site = table.find(i); site != nullptr && !site->variable.empty())
      names.insert(site->variable);
  }
  for (const std::string& name : options.only) {
    if (names.empty() || names.count(name) != 0) continue;  // a program without sites is rejected later
    std::vector<std::string> known(names.begin(), names.end());
    return fmt::format("no access in '{}' is to a variable '{}'{}", program, name,
                       catalog::nearest_hint(name, known));
  }
  return {};
}

/// Stale values are for threads in parallel, rc11 for controlled executions.
std::string check_memory_model(RunOptions& options) {
  if (options.model == "stale") {
    if (options.heuristic.empty()) options.heuristic = "Random";
    if (options.controlled) return "--model stale under control is what duress classify does";
    if (options.only.empty()) return "--model stale needs --only VARIABLE";
    if (!id_of<HeuristicId>(options.heuristic.c_str()))
      return "--heuristic: " +
             catalog::unknown_name("heuristic", options.heuristic, catalog::names<HeuristicId>());
    return check_variables(options);
  }
  if (!options.only.empty()) return "--only needs --model stale";
  std::string error =
      catalog::check_model(options.model, options.heuristic, options.model_number, options.heuristic_number);
  if (error.empty() && options.model_number != ModelId::kSc && !options.controlled)
    error = "--model " + options.model + " needs --controlled";
  return error;
}

std::string check(RunOptions& options) {
  if (std::string error = options.load_baseline(); !error.empty()) return error;
  if (options.tsan()) options.log_path = take_log_path();
  if (options.controlled && options.free) return "--free and --controlled exclude each other";
  if (!options.exit_wait.empty() && options.exit_wait != "0") {
    if (std::string error = read_time(options.exit_wait, options.exit_wait_seconds); !error.empty())
      return error;
  }
  for (const std::string& error :
       {check_memory_model(options), options.check_output(),
        option_error("--print-suppressions", exec::check_document(options.print_suppressions))}) {
    if (!error.empty()) return error;
  }
  return {};
}

void add_execution(CommandApp& app, RunOptions& options) {
  app.add_option("-t,--tool", options.chain,
                 "Chain of analyses, A:B:C (see duress list analyses); default FastTrack")
      .checked(catalog::check_chain);
  app.add_flag("--free", options.free, "Threads in parallel under the system's scheduler (default)");
  app.add_flag("--controlled", options.controlled,
               "One thread at a time, as --seed says: the same seed, the same run");
  app.add_option(
      "--model", options.model,
      "Memory model: sc (default); with --controlled rc11, atomics as weak as C++20 allows; in parallel "
      "stale, loads of --only may return older values");
  app.add_option("--heuristic", options.heuristic,
                 "Which legal value a load returns (see duress list heuristics); default Random");
  app.add_option("--only", options.only, "The variable, as races name it; several with commas")
      .separated_by(',');
  app.add_option("--tear", options.tear, "Values wider than this are read in pieces: 8 (default) or 4 bytes")
      .one_of({4, 8});
  app.add_option("--volatile", options.volatile_order,
                 "How volatile is meant: plain (default), relaxed (--volatile alone), acqrel")
      .one_of({"plain", "relaxed", "acqrel"});
  app.allow_bare("--volatile", "relaxed");
  app.add_flag("--halt", options.halt, "Stop the program at its first race");
  app.add_option(
         "--exit-wait", options.exit_wait,
         "How long the end of the program waits for threads that still run; default 1s, 0: not at all")
      .checked([](const std::string& text) {
        double ignored = 0;
        return text == "0" ? "" : read_time(text, ignored);
      });
  app.add_flag("--stats", options.stats, "Print the runtime's counters");
  add_seed(app, options.seed);
}

}  // namespace

std::optional<int> read_run_options(const Arguments& arguments, RunOptions& options) {
  CommandApp app("run", "One execution of an instrumented program; reports every data race it saw.");
  add_execution(app, options);
  options.add_suppressions(app);
  options.add_print_suppressions(app);
  options.add_gate(app, "race",
                   "race (default) or never: what makes the exit code 66; destructive and new-destructive "
                   "are for duress classify, one run gives no verdict");
  options.add_format(app);
  options.add_output(app, "Only the first line of each finding", "All frames of all stacks");
  options.add_dir(app, "Folder for logs and records");
  app.footer(
      "The program's own exit code is passed on; 66: races were found; 2: wrong use; 125: duress itself "
      "failed,\n"
      "the program could not be started, or it is not instrumented.\n\n"
      "  duress-c++ -g -O2 counter.cc -o counter\n"
      "  duress run -- ./counter 4\n"
      "  duress run --json=races.json --suppressions=known.txt -- ./counter 4");
  if (std::optional<int> code = app.read_with_target(arguments, options.target)) return code;
  pass_on_listing(options.target);
  std::string error = use_tsan_options(app, options);
  return app.reject(error.empty() ? check(options) : error);
}

}  // namespace duress::cli
