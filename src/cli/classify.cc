// SPDX-License-Identifier: Apache-2.0
//
// `duress classify`: for every race the question that matters: is it destructive? Today's attacks are
// schedules and stale values; what they do not show is "no harm found", with the number of runs.
#include "campaign/classify.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "campaign/session.h"
#include "campaign/store.h"
#include "campaign/token_text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "report/json_writer.h"
#include "report/report.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using campaign::Verdict;

std::atomic<bool> stop_asked{false};

struct ClassifyOptions {
  campaign::ClassifySetup setup;
  std::string json, dir = ".duress", color = "auto", fail_on = "destructive", run_timeout = "10s";
  std::int64_t seed = 1;
  bool quiet = false;
  std::vector<std::string> target;
};

std::string place_text(const finding::Frame& frame) {
  std::error_code ignored;
  std::string file = report_path(frame.file);
  return fmt::format("{}:{}:{}", file, frame.line, frame.column);
}

std::string side_text(const finding::AccessReport& side) {
  finding::Frame site = side.site();
  std::string locks = side.locks.empty() ? "nothing" : fmt::format("{}", fmt::join(side.locks, ", "));
  bool reads = side.access == finding::Access::kRead || side.access == finding::Access::kAtomicRead;
  return fmt::format("  T{} {:<7} {}  {}:{}  holds {}", side.thread, reads ? "reads" : "writes",
                     site.function, fs::path(site.file).filename().string(), site.line, locks);
}

std::string rates_text(const Verdict& verdict) {
  std::string text;
  for (const campaign::Rate& rate : verdict.rates) {
    if (rate.model == "sc") continue;
    text += fmt::format("{}{} {} of {}{}", text.empty() ? "" : ", ", rate.heuristic, rate.failed, rate.runs,
                        rate.fair ? "" : " (unfair)");
  }
  return text;
}

/// One race with what is known of its variable.
void print_race(const finding::Race& race, const Verdict* verdict, const ClassifyOptions& options) {
  finding::Frame place = race.sites[race.headline()].site();
  bool destructive = verdict && verdict->verdict == "destructive";
  std::string what = !verdict || verdict->verdict.empty() ? ": not judged"
                     : destructive                        ? " is DESTRUCTIVE"
                                   : fmt::format(": no harm found in {} runs", verdict->runs);
  fmt::print("{}: {}: data race on {}{} [{}]\n", place_text(place), destructive ? "error" : "warning",
             race.variable, what, race.id);
  if (options.quiet) return;
  for (const finding::AccessReport& side : race.sites) fmt::print("{}\n", side_text(side));
  if (!verdict) return;
  if (destructive) {
    const campaign::Rate& by = verdict->by;
    fmt::print("  witness: {}; {}{}; replayed {} of {}\n",
               verdict->failure.text.empty() ? verdict->failure.kind : verdict->failure.text,
               by.model == "sc" ? "by the schedule alone" : fmt::format("stale values, {}", by.heuristic),
               by.fair ? "" : ", a load that stays stale for ever", verdict->replayed, verdict->replays);
    fmt::print("           needs {} preemption{} and {} stale value{}\n", verdict->switches,
               verdict->switches == 1 ? "" : "s", verdict->values, verdict->values == 1 ? "" : "s");
    if (by.model != "sc") {
      fmt::print("           with sequentially consistent memory the same {} schedules pass\n",
                 verdict->counterfactual.runs);
    } else {
      fmt::print("           sequentially consistent memory: {} of {} schedules fail\n",
                 verdict->counterfactual.failed, verdict->counterfactual.runs);
    }
  }
  if (std::string rates = rates_text(*verdict); !rates.empty()) fmt::print("  failed: {}\n", rates);
  if (!verdict->confirmed) fmt::print("  its accesses were not brought together\n");
  if (destructive) fmt::print("  replay: duress replay {}\n", race.id);
}

std::string save(const finding::Race& race, Verdict& verdict, const ClassifyOptions& options) {
  campaign::StoredFinding stored;
  stored.id = race.id;
  stored.failure = verdict.failure.kind;
  stored.text = verdict.failure.text;
  stored.identity = verdict.failure.identity;
  stored.target = options.target;
  std::error_code ignored;
  stored.folder = fs::current_path(ignored).string();
  stored.input = options.setup.worker.input;
  stored.token = campaign::make_token(verdict.plan, verdict.trail, options.target[0]);
  stored.strategy = "random";
  stored.seed = static_cast<u64>(options.seed);
  stored.switches = verdict.switches;
  stored.oracle = options.setup.oracle;
  std::string error = campaign::Store(options.dir).save(stored);
  verdict.token = stored.token;
  return error;
}

int execute(ClassifyOptions& options) {
  options.dir = fs::absolute(options.dir).lexically_normal().string();
  campaign::WorkFolder work(options.dir);
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  options.setup.seed = static_cast<u64>(options.seed);
  options.setup.worker.folder = work.path();
  options.setup.worker.target = options.target;
  options.setup.worker.input = campaign::keep_input(work.path() + "/stdin");
  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);

  std::unique_ptr<campaign::Names> names = make_names();
  bool live = isatty(STDERR_FILENO) != 0 && !options.quiet;
  campaign::Classifier classifier(options.setup, *names, stop_asked,
                                  [&](const std::string& variable, const char* doing, u64 runs) {
                                    if (live && runs % 8 == 0)
                                      fmt::print(stderr, "\r\033[K{} runs; {} {}", runs, variable, doing);
                                  });
  if (!classifier.find()) {
    say(worker_problem_text(options.target[0], classifier.problem()));
    return kExitToolFailed;
  }
  classifier.judge();
  if (live) fmt::print(stderr, "\r\033[K");
  if (!stop_asked && classifier.problem().kind != campaign::WorkerProblem::Kind::kNone) {
    say(worker_problem_text(options.target[0], classifier.problem()));
    return kExitToolFailed;
  }

  report::Report report;
  report::Suppressions none;
  report.command = "classify";
  report.version = DURESS_VERSION;
  report.seed = options.seed;
  report.target = options.target;
  report.runs = static_cast<int>(classifier.runs());
  std::error_code ignored;
  report.cwd = fs::current_path(ignored).string();
  report::fill_report(classifier.races(), none, report);
  for (auto& race : report.races) race.pid = 0;
  report.incomplete.assign(classifier.incomplete().begin(), classifier.incomplete().end());

  int destructive = 0;
  std::set<std::string> counted;
  for (const finding::Race& race : report.races) {
    auto found = classifier.verdicts().find(race.variable);
    Verdict* verdict = found == classifier.verdicts().end() ? nullptr : &found->second;
    if (verdict && verdict->verdict == "destructive") {
      if (counted.insert(verdict->variable).second) ++destructive;
      if (std::string error = save(race, *verdict, options); !error.empty()) say(error);
    }
    if (options.json != "-") print_race(race, verdict, options);
  }
  for (const std::string& what : report.incomplete) say("incomplete: " + what);
  if (options.json != "-") {
    say(fmt::format("{} race{} on {} variable{}, {} destructive, in {} runs, seed {}{}", report.races.size(),
                    report.races.size() == 1 ? "" : "s", classifier.verdicts().size(),
                    classifier.verdicts().size() == 1 ? "" : "s", destructive, classifier.runs(),
                    options.seed, stop_asked ? "; interrupted" : ""));
  }
  if (!options.json.empty()) {
    std::string document =
        campaign::with_verdicts(report::to_json(report), classifier.verdicts(), !stop_asked);
    if (std::string error = campaign::write_document(options.json, document); !error.empty()) {
      say(error);
      return kExitToolFailed;
    }
  }
  if (options.fail_on == "never") return kExitOk;
  bool fails = options.fail_on == "race" ? !report.races.empty() : destructive != 0;
  return fails ? kExitFindings : kExitOk;
}

}  // namespace

int classify_command(const Arguments& arguments) {
  ClassifyOptions options;
  campaign::ClassifySetup& setup = options.setup;
  CLI::App app("Finds the races of a program and says of each whether it is destructive, with a replay.",
               "duress classify");
  app.prefix_command();
  app.set_help_flag("-h,--help", "This text");
  app.add_option("--seed", options.seed, "Where everything random comes from; default 1");
  app.add_option("--runs", setup.trials, "Runs of each heuristic, for each variable; default 50")
      ->check(CLI::PositiveNumber);
  app.add_option("--tear", setup.tear, "Values wider than this are read in pieces: 8 (default) or 4 bytes")
      ->check(CLI::IsMember({4, 8}));
  app.add_option("--check", setup.oracle.check,
                 "Command that reads a run's output; another code than 0: wrong");
  app.add_option("--expect-output", setup.oracle.expected_output, "File with the only right output");
  app.add_option("--expect-exit", setup.oracle.expect_exit, "The right exit code; default 0");
  app.add_option("--run-timeout", options.run_timeout, "How long one run may take; default 10s");
  app.add_option("--fail-on", options.fail_on,
                 "destructive (default), race or never: what makes the exit code 66")
      ->check(CLI::IsMember({"destructive", "race", "never"}));
  app.add_option("--json", options.json, "Write one JSON document: --json to stdout, --json=FILE to a file");
  app.add_option("--dir", options.dir, "Folder for findings; default .duress");
  app.add_flag("-q,--quiet", options.quiet, "Only the first line of each race");
  app.footer(
      "66: a destructive race was found; 0: none; 2: wrong use; 125: the program cannot be run under "
      "control.\n\n"
      "  duress-c++ -g -O2 cache.cc -o cache\n"
      "  duress classify -- ./cache");
  try {
    options.target = parse_with_target(app, arguments, {{"--json", "-"}}, {"--json"});
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_text(app, "-- PROG ARGS"));
    return kExitOk;
  } catch (const CLI::ParseError& parse_error) {
    return wrong_use("classify", parse_error.what());
  }
  if (options.target.empty() || options.target[0].empty())
    return wrong_use("classify", "no program given; put it and its arguments after --");
  std::optional<double> seconds = campaign::parse_time(options.run_timeout);
  if (!seconds || *seconds == 0)
    return wrong_use("classify", fmt::format("'{}' is no time; write 30s, 5m or 2h", options.run_timeout));
  setup.worker.run_seconds = *seconds;
  if (std::string error = campaign::check_document(options.json); !error.empty())
    return wrong_use("classify", error);
  return execute(options);
}

}  // namespace duress::cli
