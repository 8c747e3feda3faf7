// SPDX-License-Identifier: Apache-2.0
#include "cli/classify_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "catalog/lookup.h"
#include "cli/command_app.h"
#include "cli/tsan_options.h"
#include "exec/session.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

/// Which attacks --model and --heuristic leave; "" or what is wrong.
std::string check_attacks(ClassifyOptions& options) {
  if (options.model == "rc11")
    return "rc11 is about atomics, which do not race: duress explore --model rc11 looks for what it breaks";
  std::vector<std::string> models{"sc", "stale", "future", "both"};
  if (!options.model.empty() && std::find(models.begin(), models.end(), options.model) == models.end())
    return "--model: " + catalog::unknown_name("model", options.model, models);
  std::vector<std::string> known = classify::attack_names();
  if (!options.heuristic.empty() && std::find(known.begin(), known.end(), options.heuristic) == known.end())
    return "--heuristic: " + catalog::unknown_name("heuristic", options.heuristic, known);
  options.setup.attacks = classify::attacks_of(options.model, options.heuristic);
  if (options.setup.attacks.empty())
    return fmt::format("the model {} has no heuristic {}", options.model, options.heuristic);
  return {};
}

/// The program's surroundings; "" or what is wrong.
std::string check_surroundings(ClassifyOptions& options) {
  for (const std::string& variable : options.setup.environment) {
    std::size_t sign = variable.find('=');
    if (sign == std::string::npos || sign == 0)
      return fmt::format("--env takes NAME=VALUE, not '{}'", variable);
    setenv(variable.substr(0, sign).c_str(), variable.c_str() + sign + 1, 1);
  }
  std::string& folder = options.setup.worker.start_in;
  if (folder.empty()) return {};
  folder = fs::absolute(folder).lexically_normal().string();
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return fmt::format("'{}' is not a folder", folder);
  std::string& program = options.target[0];  // as it is seen from there
  if (program.find('/') != std::string::npos) program = (fs::path(folder) / program).string();
  return {};
}

/// Translates the words of the command line into the setup; "" or what is wrong.
std::string check(ClassifyOptions& options) {
  classify::ClassifySetup& setup = options.setup;
  if (std::string error = check_attacks(options); !error.empty()) return error;
  if (options.tsan()) options.log_path = take_log_path();
  setup.seed = static_cast<u64>(options.seed);
  setup.worker.early_timeouts = options.early_timeouts();
  std::string error = options.check_campaign(setup);
  return error.empty() ? check_surroundings(options) : error;
}

void add_attacks(CommandApp& app, ClassifyOptions& options) {
  app.add_option("--model", options.model, "Only these attacks: sc (schedules alone), stale, future or both");
  app.add_option("--heuristic", options.heuristic,
                 fmt::format("Only this one: {}", fmt::join(classify::attack_names(), ", ")));
  app.add_option("--only", options.only, "Only this race: its variable, its id, or file:line of an access");
  app.add_option("--tear", options.setup.tear,
                 "Values wider than this are read in pieces: 8 (default) or 4 bytes")
      .one_of({4, 8});
  app.add_flag_callback(
      "--advice", [&options] { options.advice = true; },
      "Look for a change that fixes the races, as duress verify does, in up to 5,000 interleavings; "
      "default: of destructive ones, in up to 200");
  app.add_flag_callback(
      "--no-advice", [&options] { options.advice = false; }, "Do not look for such a change");
  app.add_flag("--stats", options.stats, "Histories of each variable: instances, writes, reads, longest");
  add_coverage(app, options.setup.coverage);
  options.add_timeouts(app);
  options.add_suppressions(app);
}

void add_surroundings(CommandApp& app, ClassifyOptions& options) {
  options.add_format(app, ", with the verdict");
  app.add_option("--in", options.setup.worker.start_in, "Folder to start the program in; default: this one");
  app.add_option("--env", options.setup.environment,
                 "NAME=VALUE in the program's environment; may be repeated")
      .one_at_a_time();
  app.add_option("--test", options.test).hidden();            // duress test: the case that is charged
  app.add_flag("--allow-none", options.allow_none).hidden();  // duress pin: --only may match nothing
}

}  // namespace

std::optional<int> read_classify_options(const Arguments& arguments, ClassifyOptions& options) {
  classify::ClassifySetup& setup = options.setup;
  CommandApp app("classify",
                 "Finds the races of a program and says of each whether it is destructive, with a replay.");
  add_attacks(app, options);
  add_surroundings(app, options);
  options.add_campaign(
      app, setup, setup.runs,
      {.budget = {.runs = "Trials of each attack on each variable; default 50",
                  .time = "How long at most: 30s, 5m, 2h; without --runs as many trials as that allows, "
                          "where verdicts are open",
                  .jobs = "Trials side by side; default: cores. Results do not depend on it"},
       .fail_on = "destructive",
       .fail_on_help = "destructive (default), new-destructive (also a race of the baseline that was not so "
                       "before), race or never: what makes the exit code 66",
       .quiet = "Only the first line of each race, and the summary",
       .verbose = "Both accesses and the rate of each attack for every race",
       .dir = "Folder for findings and the record"});
  app.footer(
      "What it does: finds races under several schedules; brings each pair of accesses together; then runs "
      "the\n"
      "program with values for the racing loads that the C++ memory model allows: older ones (stale), ones "
      "that\n"
      "are stored later (future), both. What fails must pass with the same schedule and sequentially "
      "consistent\n"
      "memory; it is made small and replayed. A race without a witness is \"no harm found in N runs\".\n\n"
      "Exit code 66: a destructive race was found; 0: none; 124: none when the time was over; 2: wrong use;\n"
      "125: duress itself failed, or the program could not be run under control. A campaign that was\n"
      "interrupted goes on with the same command.\n\n"
      "  duress-c++ -g -O2 cache.cc -o cache\n"
      "  duress classify -- ./cache\n"
      "  duress classify --time 10m --check 'grep -q total=100' -- ./bank 10\n"
      "  duress classify --only Cache::size_ --runs 1000 -v -- ./cache");
  if (std::optional<int> code = app.read_with_target(arguments, options.target)) return code;
  pass_on_listing(options.target);
  setup.runs_given = app.was_given("--runs");
  std::string error = use_tsan_options(app, options, options);
  return app.reject(error.empty() ? check(options) : error);
}

}  // namespace duress::cli
