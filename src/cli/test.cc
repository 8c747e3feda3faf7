// SPDX-License-Identifier: Apache-2.0
//
// `duress test`: classify for every test that CTest knows in a build folder. A GoogleTest program is taken
// apart into its cases, each classified by itself: a race is then charged to the case in which it happened.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "cli/child.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/ctest_tests.h"
#include "cli/gate.h"
#include "cli/report_files.h"
#include "cli/test_campaign.h"
#include "cli/test_document.h"
#include "exec/session.h"
#include "report/words.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using report::count_text;

std::atomic<bool> stop_asked{false};

struct TestOptions {
  CtestSelection selection;
  TestSetup setup;
  ReportFiles files;
  std::string json, color = "auto", fail_on = "destructive", time, run_timeout, baseline, model, heuristic;
  std::vector<std::string> suppressions;
  Baseline known;
  std::int64_t seed = 1;
  int tear = 8;
  bool quiet = false, verbose = false, list = false;
  std::string executor = "local", partition;
  u64 workers = 0;
  std::vector<std::string> sbatch_args;
};

/// Ctrl-C ends the campaign, a second one ends us.
void catch_signals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{}, old{};
    action.sa_handler = [](int) { stop_asked = true; };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

/// One live line on a terminal, else a line every 10 s.
class Screen {
 public:
  explicit Screen(bool silent) : silent_(silent) {
    const char* ci = std::getenv("CI");
    live_ = isatty(STDERR_FILENO) != 0 && (ci == nullptr || *ci == '\0');
  }
  void show(const TestProgress& progress, std::size_t races, std::size_t destructive) {
    if (silent_ || progress.seconds < last_ + (live_ ? 0.2 : 10)) return;
    last_ = progress.seconds;
    std::string text = fmt::format("{} of {}, {}, {} destructive", progress.done,
                                   count_text(progress.all, "case"), count_text(races, "race"), destructive);
    if (progress.left >= 1) text += fmt::format(", about {:.0f} s left", progress.left);
    if (!progress.name.empty()) text += ", in " + progress.name;
    if (live_)
      fmt::print(stderr, "\r\033[K{}", text);
    else
      say(text);
    std::fflush(stderr);
    shown_ = live_;
  }
  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  bool silent_, live_ = false, shown_ = false;
  double last_ = 0;
};

/// A CTest test as one case or several, with why one of them cannot be classified.
void add_cases(const CtestTest& test, std::vector<CaseResult>& cases, std::vector<std::string>& notes) {
  CaseResult result;
  result.test_case = {test.name, test.name, test.command};
  result.folder = test.folder;
  result.environment = test.environment;
  result.timeout = test.timeout;
  result.serial = test.serial;
  auto give_up = [&](CaseOutcome outcome, const std::string& why) {
    result.outcome = outcome;
    result.why = why;
    cases.push_back(result);
  };
  if (test.disabled) return give_up(CaseOutcome::kDisabled, "");
  if (test.command.empty()) return give_up(CaseOutcome::kNotBuilt, "it has no command");
  std::string& program = result.test_case.command[0];
  program = (fs::path(test.folder) / program).lexically_normal().string();
  std::error_code ignored;
  if (!fs::is_regular_file(program, ignored) || access(program.c_str(), X_OK) != 0)
    return give_up(CaseOutcome::kNotBuilt, fmt::format("'{}' is not there", program));
  if (!fs::is_directory(test.folder, ignored))
    return give_up(CaseOutcome::kNotBuilt, fmt::format("its folder '{}' is not there", test.folder));
  for (const std::string& file : test.required_files) {
    if (!fs::exists(file, ignored))
      return give_up(CaseOutcome::kNotBuilt, fmt::format("'{}' is not there", file));
  }
  if (test.will_fail) return give_up(CaseOutcome::kExpectsFailure, "it is WILL_FAIL");
  CtestTest absolute = test;
  absolute.command = result.test_case.command;
  std::string error;
  for (TestCase& one : cases_of(absolute, error)) {
    result.test_case = std::move(one);
    cases.push_back(result);
  }
  if (!error.empty()) notes.push_back(error);
}

/// Runs the tests that prepare or clean up what the chosen ones need, once and as they are.
void run_fixtures(const std::vector<CtestTest>& all, const std::vector<CtestTest>& chosen, bool before) {
  std::set<std::string> wanted;
  for (const CtestTest& test : chosen) wanted.insert(test.required.begin(), test.required.end());
  for (const CtestTest& test : all) {
    const std::vector<std::string>& names = before ? test.setup : test.cleanup;
    bool needed =
        std::any_of(names.begin(), names.end(), [&](const auto& name) { return wanted.count(name) != 0; });
    if (!needed || test.disabled || test.command.empty() || stop_asked) continue;
    ChildStart start;
    start.argv = test.command;
    start.folder = test.folder;
    start.environment = test.environment;
    start.unset = {"DURESS_OPTIONS"};
    ChildOutput done = run_child(start, test.timeout > 0 ? test.timeout : 1500);
    if (done.code != 0) say(fmt::format("the fixture {} ended with code {}", test.name, done.code));
  }
}

std::string outcomes_text(const std::vector<CaseResult>& cases) {
  static const std::pair<CaseOutcome, const char*> kinds[] = {
      {CaseOutcome::kFails, "fail anyway"},        {CaseOutcome::kNotInstrumented, "not instrumented"},
      {CaseOutcome::kNotBuilt, "not built"},       {CaseOutcome::kDisabled, "disabled"},
      {CaseOutcome::kExpectsFailure, "WILL_FAIL"}, {CaseOutcome::kError, "could not be run"},
      {CaseOutcome::kOpen, "not finished"}};
  std::string text;
  for (const auto& [kind, words] : kinds) {
    auto is_it = [wanted = kind](const CaseResult& result) { return result.outcome == wanted; };
    if (auto n = std::count_if(cases.begin(), cases.end(), is_it); n != 0)
      text += fmt::format(", {} {}", n, words);
  }
  return text;
}

class Session {
 public:
  Session(TestOptions& options, std::vector<CaseResult> cases)
      : options_(options),
        text_(options.json != "-"),
        screen_(options.quiet || !text_),
        campaign_(options.setup, std::move(cases)) {}

  int run() {
    if (std::string error = campaign_.open(); !error.empty()) {
      say(error);
      return kExitToolFailed;
    }
    if (campaign_.resumed() != 0 && text_ && !options_.quiet)
      say(fmt::format("going on after {}", count_text(campaign_.resumed(), "finished case")));
    campaign_.run(
        stop_asked, [this](const TestProgress& progress) { screen_.show(progress, races_, destructive_); },
        [this](const CaseResult& result) { ended(result); });
    screen_.clear();
    TestDocument document = merge_documents(
        {options_.seed, options_.selection.build_dir, campaign_.seconds()}, campaign_.cases());
    bool written =
        finish_with_reports(options_.files, options_.setup.dir, report::Json::parse(document.json));
    if (text_) print_summary(document);
    if (!options_.json.empty()) {
      if (std::string error = exec::write_document(options_.json, document.json); !error.empty()) {
        say(error);
        return kExitToolFailed;
      }
    }
    return written ? exit_code(document) : kExitToolFailed;
  }

 private:
  void ended(const CaseResult& result) {
    screen_.clear();
    if (text_) {
      fmt::print("{}", result.text);
      std::fflush(stdout);
      if (!result.why.empty() && !options_.quiet)
        say(fmt::format("{}: {}: {}", result.test_case.name, name_of(result.outcome), result.why));
    }
    TestDocument one = merge_documents({}, {result});
    races_ += one.races.size();
    for (const ChargedRace& race : one.races) destructive_ += race.verdict == "destructive" ? 1 : 0;
  }

  void print_summary(const TestDocument& document) {
    std::set<std::string> racy;
    std::size_t destructive = 0;
    for (const ChargedRace& race : document.races) {
      racy.insert(race.test);
      destructive += race.verdict == "destructive" ? 1 : 0;
    }
    std::string text = document.races.empty() ? "no race"
                                              : fmt::format("{} in {}, {} destructive",
                                                            count_text(document.races.size(), "race"),
                                                            count_text(racy.size(), "case"), destructive);
    text += fmt::format("; {}{}, in {}, seed {}", count_text(campaign_.cases().size(), "case"),
                        outcomes_text(campaign_.cases()), count_text(document.runs, "run"), options_.seed);
    if (stop_asked) text += "; interrupted, the same command goes on";
    if (campaign_.out_of_time()) text += "; out of time, the same command goes on";
    say(text);
  }

  int exit_code(const TestDocument& document) {
    for (const ChargedRace& race : document.races) {
      if (fails(options_.fail_on, options_.known, {race.id, race.verdict == "destructive"}))
        return kExitFindings;
    }
    bool ran = false, broken = false;
    for (const CaseResult& result : campaign_.cases()) {
      ran = ran || !result.document.empty();
      broken = broken || result.outcome == CaseOutcome::kError;
    }
    if (broken) return kExitToolFailed;
    if (stop_asked || campaign_.out_of_time()) return kExitOutOfTime;
    if (ran) return kExitOk;
    say(
        fmt::format("no test of '{}' could be classified; build it with CC=duress-cc CXX=duress-c++ or "
                    "-DCMAKE_TOOLCHAIN_FILE=$(duress cmake)",
                    options_.selection.build_dir));
    return kExitToolFailed;
  }

  TestOptions& options_;
  const bool text_;
  Screen screen_;
  TestCampaign campaign_;
  std::size_t races_ = 0, destructive_ = 0;  // so far
};

int execute(TestOptions& options) {
  std::string error;
  CtestSelection everything{options.selection.build_dir, "", "", "", options.selection.configuration};
  std::optional<std::vector<CtestTest>> chosen = ctest_tests(options.selection, error);
  std::optional<std::vector<CtestTest>> all;
  if (chosen) all = ctest_tests(everything, error);
  if (!chosen || !all) return wrong_use("test", error);
  if (all->empty())
    return wrong_use("test", fmt::format("'{}' has no tests; add_test() or gtest_discover_tests() makes them",
                                         options.selection.build_dir));
  if (chosen->empty())
    return wrong_use("test", fmt::format("none of the {} of '{}' matches", count_text(all->size(), "test"),
                                         options.selection.build_dir));
  // What only prepares others is run for them, not classified.
  std::erase_if(*chosen, [](const CtestTest& test) { return !test.setup.empty() || !test.cleanup.empty(); });
  catch_signals();
  std::vector<CaseResult> cases;
  std::vector<std::string> notes;
  for (const CtestTest& test : *chosen) add_cases(test, cases, notes);
  if (options.list) {
    for (const CaseResult& result : cases) fmt::print("{}\n", result.test_case.name);
    return kExitOk;
  }
  for (const std::string& note : notes) say(note);
  run_fixtures(*all, *chosen, true);
  int code = Session(options, std::move(cases)).run();
  run_fixtures(*all, *chosen, false);
  return code;
}

/// The words that every classify is given, and what names the campaign. "" or what is wrong.
std::string prepare(TestOptions& options) {
  TestSetup& setup = options.setup;
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
  if (!options.baseline.empty()) {
    if (std::string error = options.known.load(options.baseline); !error.empty()) return error;
    add("--baseline", options.baseline);
  }
  setup.name = fs::absolute(options.selection.build_dir).lexically_normal().string() + '\1' +
               std::to_string(setup.runs);
  for (const std::string& word : words) setup.name += '\1' + word;
  if (options.executor == "local") {
    if (options.workers != 0 || !options.partition.empty() || !options.sbatch_args.empty())
      return "--workers, --partition and --sbatch-args need --executor slurm";
  } else {
    setup.one_by_one = true;  // a folder holds one campaign of several machines
    add("--executor", options.executor);
    if (options.workers != 0) add("--workers", std::to_string(options.workers));
    add("--partition", options.partition);
    for (const std::string& word : options.sbatch_args) words.push_back("--sbatch-args=" + word);
  }
  if (options.quiet) words.emplace_back("-q");
  if (options.verbose) words.emplace_back("-v");
  bool color = options.color == "always" ||
               (options.color == "auto" && isatty(STDOUT_FILENO) != 0 && exec::wants_color("auto"));
  words.push_back(color ? "--color=always" : "--color=never");
  for (auto [text, seconds] :
       {std::pair{&options.time, &setup.seconds}, std::pair{&options.run_timeout, &setup.run_seconds}}) {
    if (text->empty()) continue;
    std::optional<double> value = exec::parse_time(*text);
    if (!value || *value == 0) return fmt::format("'{}' is no time; write 30s, 5m or 2h", *text);
    *seconds = *value;
  }
  if (setup.jobs == 0) setup.jobs = std::max(1u, std::thread::hardware_concurrency());
  if (std::string error = options.files.check(); !error.empty()) return error;
  return exec::check_document(options.json);
}

}  // namespace

int test_command(const Arguments& arguments) {
  TestOptions options;
  TestSetup& setup = options.setup;
  setup.jobs = 0;
  setup.dir = ".duress";
  CLI::App app(
      "Classifies the races of every CTest test of a build folder; each is charged to its test case.",
      "duress test");
  app.set_help_flag("-h,--help", "This text");
  app.add_option("BUILD_DIR", options.selection.build_dir,
                 "Build folder of a CMake project built with duress-cc");
  app.add_option("-R,--tests-regex", options.selection.include, "Only tests whose name matches, as of ctest");
  app.add_option("-E,--exclude-regex", options.selection.exclude, "No tests whose name matches");
  app.add_option("-L,--label-regex", options.selection.label, "Only tests with a label that matches");
  app.add_option("-C,--build-config", options.selection.configuration,
                 "Configuration, where there are several");
  app.add_flag("-N,--show-only", options.list, "Print the names of the cases and do nothing");
  app.add_option("--runs", setup.runs, "Trials of each attack on each variable; default 50")
      ->check(CLI::PositiveNumber);
  app.add_option("--time", options.time, "How long at most, for all cases: 30s, 5m, 2h");
  app.add_option("--seed", options.seed, "Where everything random comes from; default 1");
  app.add_option("-j,--jobs", setup.jobs, "Trials side by side; default: cores. Results do not depend on it");
  app.add_option("--model", options.model, "Only these attacks: sc (schedules alone), stale, future or both");
  app.add_option("--heuristic", options.heuristic, "Only this one; see duress classify --help");
  app.add_option("--tear", options.tear, "Values wider than this are read in pieces: 8 (default) or 4 bytes")
      ->check(CLI::IsMember({4, 8}));
  app.add_option("--run-timeout", options.run_timeout,
                 "How long one run may take; default: the test's TIMEOUT, between 10 s and 5 min");
  app.add_option("--suppressions", options.suppressions,
                 "File of races to leave alone, in ThreadSanitizer's syntax")
      ->allow_extra_args(false);
  app.add_option("--baseline", options.baseline,
                 "Document of an earlier --json; races in it do not make the exit code 66");
  app.add_option("--fail-on", options.fail_on,
                 "destructive (default), new-destructive (also a race of the baseline that was not so "
                 "before), race or never: what makes the exit code 66")
      ->check(CLI::IsMember(fail_on_names()));
  app.add_option("--json", options.json, "Write one JSON document: --json to stdout, --json=FILE to a file");
  options.files.add_to(app);
  app.add_option("--executor", options.executor,
                 "Who performs the executions: local (default) or slurm: a job array for each case, one case "
                 "after the other")
      ->check(CLI::IsMember({"local", "slurm"}));
  app.add_option("--workers", options.workers, "With --executor slurm: how many workers")
      ->check(CLI::Range(u64{1}, u64{100000}));
  app.add_option("--partition", options.partition, "With --executor slurm: Slurm's partition");
  app.add_option("--sbatch-args", options.sbatch_args, "With --executor slurm: a further word for sbatch")
      ->allow_extra_args(false);
  app.add_option("--dir", setup.dir, "Folder for findings and the record; default .duress");
  app.add_flag("-q,--quiet", options.quiet, "Only the first line of each race, and the summary");
  app.add_flag("-v,--verbose", options.verbose, "Both accesses and the rate of each attack for every race");
  app.add_option("--color", options.color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
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
  Arguments words(arguments);
  for (std::string& word : words) {
    if (word == "--json") word = "--json=-";
    if (word == "--color") word = "--color=always";
  }
  std::reverse(words.begin(), words.end());  // CLI11 takes words from the back
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return kExitOk;
  } catch (const CLI::ParseError& parse_error) {
    return wrong_use("test", parse_error.what());
  }
  if (options.selection.build_dir.empty())
    return wrong_use("test", "no build folder given; duress test BUILD_DIR");
  if (std::string error = prepare(options); !error.empty()) return wrong_use("test", error);
  return execute(options);
}

}  // namespace duress::cli
