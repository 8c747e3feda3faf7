// SPDX-License-Identifier: Apache-2.0
#include "cli/test_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "classify/attacks.h"
#include "cli/command_app.h"
#include "cli/tsan_options.h"
#include "exec/session.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

/// The words that every `duress classify` gets; what changes results comes first and names the campaign.
std::string make_words(TestOptions& options) {
  suite::Setup& setup = options.setup;
  auto& words = setup.options;
  words = {"--seed", std::to_string(options.seed), "--tear", std::to_string(options.tear)};
  auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--model", options.model);
  add("--heuristic", options.heuristic);
  for (const std::string& file : options.suppressions) {
    if (access(file.c_str(), R_OK) != 0)
      return fmt::format("cannot read '{}': {}", file, std::strerror(errno));
    add("--suppressions", file);
  }
  if (options.coverage) words.emplace_back("--coverage");
  if (std::string error = options.load_baseline(); !error.empty()) return error;
  add("--baseline", options.baseline);
  setup.name = fs::absolute(options.selection.build_dir).lexically_normal().string() + '\1' +
               std::to_string(setup.runs);
  for (const std::string& word : words) setup.name += '\1' + word;
  const cluster::SessionOptions& cluster = options.cluster;
  if (cluster.executor == "local") {
    if (cluster.workers != 0 || !cluster.partition.empty() || !cluster.sbatch_args.empty())
      return "--workers, --partition and --sbatch-args need --executor slurm";
  } else {
    setup.one_by_one = true;  // a folder holds one campaign of several machines
    add("--executor", cluster.executor);
    if (cluster.workers != 0) add("--workers", std::to_string(cluster.workers));
    add("--partition", cluster.partition);
    for (const std::string& word : cluster.sbatch_args) words.push_back("--sbatch-args=" + word);
  }
  if (options.quiet) words.emplace_back("-q");
  if (options.verbose) words.emplace_back("-v");
  words.push_back(exec::wants_color(options.color, STDOUT_FILENO) ? "--color=always" : "--color=never");
  return {};
}

std::string check(TestOptions& options) {
  suite::Setup& setup = options.setup;
  setup.dir = options.dir;
  if (options.selection.build_dir.empty()) return "no build folder given; duress test BUILD_DIR";
  if (std::string error = make_words(options); !error.empty()) return error;
  std::string error = options.check_budget(setup.seconds, setup.run_seconds, setup.jobs, "");
  return error.empty() ? options.check_output() : error;
}

void add_selection(CommandApp& app, TestOptions& options) {
  app.add_option("BUILD_DIR", options.selection.build_dir,
                 "Build folder of a CMake project built with duress-cc");
  app.add_option("-R,--tests-regex", options.selection.include,
                 "Only tests whose name matches (same syntax as ctest)");
  app.add_option("-E,--exclude-regex", options.selection.exclude, "No tests whose name matches");
  app.add_option("-L,--label-regex", options.selection.label, "Only tests with a label that matches");
  app.add_option("-C,--build-config", options.selection.configuration,
                 "Configuration, where there are several");
  app.add_flag("-N,--show-only", options.list, "Print the names of the cases and do nothing");
}

}  // namespace

std::optional<int> read_test_options(const Arguments& arguments, TestOptions& options) {
  options.setup.jobs = 0;
  CommandApp app(
      "test",
      "Classifies the races of every CTest test of a build folder; each is charged to its test case.");
  add_selection(app, options);
  options.add_budget(
      app, options.setup.runs, options.setup.jobs,
      {.runs = "Trials of each attack on each variable; default 50",
       .time = "How long at most, for all cases: 30s, 5m, 2h",
       .run_timeout = "How long one run may take; default: the test's TIMEOUT, between 10 s and 5 min",
       .jobs = "Trials side by side; default: cores. Results do not depend on it"});
  app.add_option("--model", options.model, "Only these attacks: sc (schedules alone), stale, future or both")
      .named("model", {"sc", "stale", "future", "both"});
  app.add_option("--heuristic", options.heuristic, "Only this one; see duress classify --help")
      .named("heuristic", classify::attack_names());
  app.add_option("--tear", options.tear, "Values wider than this are read in pieces: 8 (default) or 4 bytes")
      .one_of({4, 8});
  add_coverage(app, options.coverage);
  options.add_suppressions(app);
  options.add_gate(app, "destructive",
                   "destructive (default), new-destructive (also a race of the baseline that was not so "
                   "before), race or never: what makes the exit code 66");
  options.add_output(app, "Only the first line of each race, and the summary",
                     "Both accesses and the rate of each attack for every race");
  options.add_dir(app, "Folder for findings and the record");
  add_slurm_options(app, options.cluster);
  app.footer(
      "Commands, folders, environments and fixtures are those that CTest knows. A GoogleTest program that is "
      "one\n"
      "CTest test is taken apart into its cases. Tests that are disabled, not built, or not instrumented "
      "are\n"
      "named and counted.\n\n"
      "Exit code 66: a destructive race was found; 0: none; 124: none when the time was over; 2: wrong use;\n"
      "125: no test could be classified, or duress itself failed. After Ctrl-C the same command goes on.\n\n"
      "  cmake -B build -DCMAKE_TOOLCHAIN_FILE=$(duress cmake) && cmake --build build\n"
      "  duress test build\n"
      "  duress test build -R Cache --time 10m --json=races.json\n"
      "  duress test build --baseline races.json --fail-on new-destructive");
  if (std::optional<int> code = app.read(arguments)) return code;
  std::string error = use_tsan_options(app, options, options);
  return app.reject(error.empty() ? check(options) : error);
}

}  // namespace duress::cli
