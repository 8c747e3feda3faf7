// SPDX-License-Identifier: Apache-2.0
#include "cli/classify_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "catalog/lookup.h"
#include "cli/command_line.h"
#include "cli/listing.h"
#include "cli/tsan_output.h"
#include "exec/session.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

/// Turns what was typed into what is meant; "" or what is wrong.
std::string check(ClassifyOptions& options) {
  classify::ClassifySetup& setup = options.setup;
  if (options.model == "rc11")
    return "rc11 is about atomics, which do not race: duress explore --model rc11 looks for what it breaks";
  std::vector<std::string> models{"sc", "stale", "future", "both"};
  if (!options.model.empty() && std::find(models.begin(), models.end(), options.model) == models.end())
    return catalog::unknown_name("model", options.model, models);
  std::vector<std::string> known = classify::attack_names();
  if (!options.heuristic.empty() && std::find(known.begin(), known.end(), options.heuristic) == known.end())
    return catalog::unknown_name("heuristic", options.heuristic, known);
  setup.attacks = classify::attacks_of(options.model, options.heuristic);
  if (setup.attacks.empty())
    return fmt::format("the model {} has no heuristic {}", options.model, options.heuristic);
  std::optional<double> seconds = exec::parse_time(options.time.empty() ? "0" : options.time);
  if (!seconds || (*seconds == 0 && !options.time.empty()))
    return fmt::format("'{}' is no time; write 30s, 5m or 2h", options.time);
  std::optional<double> run_seconds = exec::parse_time(options.run_timeout);
  if (!run_seconds || *run_seconds == 0)
    return fmt::format("'{}' is no time; write 30s, 5m or 2h", options.run_timeout);
  setup.seconds = *seconds;
  setup.worker.run_seconds = *run_seconds;
  if (setup.jobs == 0) setup.jobs = std::max(1u, std::thread::hardware_concurrency());
  if (!setup.oracle.expected_output.empty()) {
    setup.oracle.expected_output = fs::absolute(setup.oracle.expected_output).lexically_normal().string();
    if (access(setup.oracle.expected_output.c_str(), R_OK) != 0)
      return fmt::format("cannot read '{}': {}", setup.oracle.expected_output, std::strerror(errno));
  }
  for (const std::string& variable : options.environment) {
    if (variable.find('=') == std::string::npos || variable[0] == '=')
      return fmt::format("--env takes NAME=VALUE, not '{}'", variable);
  }
  if (!options.start_in.empty()) {
    options.start_in = fs::absolute(options.start_in).lexically_normal().string();
    if (!fs::is_directory(options.start_in)) return fmt::format("'{}' is no folder", options.start_in);
    std::string& program = options.target[0];  // as it is seen from there
    if (program.find('/') != std::string::npos) program = (fs::path(options.start_in) / program).string();
  }
  if (!options.baseline.empty()) {
    if (std::string error = options.known.load(options.baseline); !error.empty()) return error;
  }
  if (std::string error = options.files.check(); !error.empty()) return error;
  return exec::check_document(options.json);
}

}  // namespace

std::optional<int> read_classify_options(const Arguments& arguments, ClassifyOptions& options) {
  classify::ClassifySetup& setup = options.setup;
  setup.jobs = 0;
  CLI::App app("Finds the races of a program and says of each whether it is destructive, with a replay.",
               "duress classify");
  app.prefix_command();
  app.set_help_flag("-h,--help", "This text");
  CLI::Option* runs =
      app.add_option("--runs", setup.runs, "Trials of each attack on each variable; default 50")
          ->check(CLI::PositiveNumber);
  app.add_option(
      "--time", options.time,
      "How long at most: 30s, 5m, 2h; without --runs as many trials as that allows, where verdicts are open");
  app.add_option("--seed", options.seed, "Where everything random comes from; default 1");
  app.add_option("-j,--jobs", setup.jobs, "Trials side by side; default: cores. Results do not depend on it");
  app.add_option("--model", options.model, "Only these attacks: sc (schedules alone), stale, future or both");
  app.add_option(
      "--heuristic", options.heuristic,
      "Only this one: racefuzzer, Oldest, OldestButDifferent, Random, RandomButDifferent, All, Selective, "
      "PerSite");
  app.add_option("--only", options.only, "Only this race: its variable, its id, or file:line of an access");
  app.add_option("--tear", setup.tear, "Values wider than this are read in pieces: 8 (default) or 4 bytes")
      ->check(CLI::IsMember({4, 8}));
  app.add_option("--check", setup.oracle.check,
                 "Shell command that reads a run's output; a code other than 0 is a failure");
  app.add_option("--expect-output", setup.oracle.expected_output, "File that every run's output must equal");
  app.add_option("--expect-exit", setup.oracle.expect_exit, "The exit code that means success; default 0")
      ->check(CLI::Range(0, 255));
  app.add_option("--run-timeout", options.run_timeout, "How long one run may take; default 10s");
  app.add_option("--suppressions", options.suppressions,
                 "File of races to leave alone, in ThreadSanitizer's syntax")
      ->allow_extra_args(false);
  app.add_option("--baseline", options.baseline,
                 "Document of an earlier --json; races in it do not make the exit code 66");
  app.add_option("--fail-on", options.fail_on,
                 "destructive (default), new-destructive (also a race of the baseline that was not so "
                 "before), race or never: what makes the exit code 66")
      ->check(CLI::IsMember(fail_on_names()));
  app.add_option("--format", options.format,
                 "text (default), or tsan: as ThreadSanitizer prints it, with the verdict; log_path=FILE in "
                 "DURESS_OPTIONS or TSAN_OPTIONS sends it to FILE.PID")
      ->check(CLI::IsMember({"text", "tsan"}));
  app.add_option("--in", options.start_in, "Folder to start the program in; default: this one");
  app.add_option("--env", options.environment, "NAME=VALUE in the program's environment; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--test", options.test)->group("");            // duress test: the case that is charged
  app.add_flag("--allow-none", options.allow_none)->group("");  // duress pin: --only may match nothing
  app.add_option("--json", options.json, "Write one JSON document: --json to stdout, --json=FILE to a file");
  options.files.add_to(app);
  app.add_option("--dir", options.dir, "Folder for findings and the record; default .duress");
  add_cluster_options(app, options.cluster);
  app.add_flag_callback(
      "--advice", [&options] { options.advice = true; },
      "Look for a change that fixes the races, as duress verify does, in up to 5,000 interleavings; "
      "default: of destructive ones, in up to 200");
  app.add_flag_callback(
      "--no-advice", [&options] { options.advice = false; }, "Do not look for such a change");
  app.add_flag("--stats", options.stats, "Histories of each variable: instances, writes, reads, longest");
  app.add_flag("-q,--quiet", options.quiet, "Only the first line of each race, and the summary");
  app.add_flag("-v,--verbose", options.verbose, "Both accesses and the rate of each attack for every race");
  app.add_option("--color", options.color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
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
  try {
    options.target = parse_with_target(app, arguments, {{"--json", "-"}, {"--color", "always"}}, {"--json"});
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_text(app, "-- PROG ARGS"));
    return kExitOk;
  } catch (const CLI::ParseError& parse_error) {
    return wrong_use("classify", parse_error.what());
  }
  if (options.target.empty() || options.target[0].empty())
    return wrong_use("classify", "no program given; put it and its arguments after --");
  pass_on_listing(options.target);
  if (options.format == "tsan") options.log_path = take_log_path();
  setup.runs_given = runs->count() != 0;
  if (std::string error = check(options); !error.empty()) return wrong_use("classify", error);
  return std::nullopt;
}

}  // namespace duress::cli
