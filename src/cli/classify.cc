// SPDX-License-Identifier: Apache-2.0
//
// `duress classify`: for every race the question that matters: is it destructive? The work is src/campaign's;
// here are its options and what comes of them.
#include "campaign/classify.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "campaign/classify_json.h"
#include "campaign/files.h"
#include "campaign/interleaving.h"
#include "campaign/session.h"
#include "campaign/store.h"
#include "campaign/token_text.h"
#include "cli/catalog.h"
#include "cli/classify_screen.h"
#include "cli/classify_text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/layout.h"
#include "report/json_writer.h"
#include "report/report.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using campaign::RaceVerdict;
using campaign::Variable;
using campaign::VerdictKind;
using campaign::Witness;

std::atomic<bool> stop_asked{false};

struct ClassifyOptions {
  campaign::ClassifySetup setup;
  std::string json, dir = ".duress", color = "auto", fail_on = "destructive", time, run_timeout = "10s";
  std::string model, heuristic, only, baseline;
  std::set<std::string> known;  // ids in the baseline
  std::vector<std::string> suppressions;
  std::int64_t seed = 1;
  bool quiet = false, verbose = false, stats = false;
  std::vector<std::string> target;
};

/// Ctrl-C ends the campaign, a second one ends us.
void catch_signals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{}, old{};
    action.sa_handler = [](int) { stop_asked = true; };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays nohup
  }
}

bool use_color(const std::string& when) {
  if (when != "auto") return when == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

/// Whether `--only` means this race: by its variable, its id, or the place of one of its accesses.
bool wanted_by(const std::string& only, const finding::Race& race) {
  if (only.empty() || only == race.variable || only == race.id) return true;
  for (const finding::AccessReport& side : race.sites) {
    finding::Frame site = side.site();
    std::string place = fmt::format("{}:{}", site.file, site.line);
    if (only == place || (place.size() > only.size() && place.ends_with("/" + only))) return true;
    if (only == fmt::format("{}:{}", place, site.column)) return true;
  }
  return false;
}

/// `--only` matches nothing: what there is, the nearest first.
int say_nothing_matches(const ClassifyOptions& options, const std::vector<finding::Race>& races) {
  std::vector<std::string> known;
  for (const finding::Race& race : races) {
    if (std::find(known.begin(), known.end(), race.variable) == known.end()) known.push_back(race.variable);
  }
  std::string hint = nearest_hint(options.only, known);
  if (known.size() > 12) known.resize(12);
  say(fmt::format("no race on '{}'{} (racing: {})", options.only, hint, fmt::join(known, ", ")));
  return kExitWrongUse;
}

/// Keeps the witness where `duress replay` finds it. Returns the token, or "" with what went wrong said.
std::string save(const finding::Race& race, const Witness& witness, const ClassifyOptions& options) {
  campaign::StoredFinding stored;
  stored.id = race.id;
  stored.failure = witness.failure.kind;
  stored.text = witness.failure.text;
  stored.identity = witness.failure.identity;
  stored.file = witness.failure.place.file;
  stored.line = witness.failure.place.line;
  stored.column = witness.failure.place.column;
  stored.target = options.target;
  std::error_code ignored;
  stored.folder = fs::current_path(ignored).string();
  stored.input = options.setup.worker.input;
  stored.token = campaign::make_token(witness.plan, witness.trail, options.target[0]);
  stored.strategy = campaign::strategy_name(witness.by.strategy);
  stored.seed = static_cast<u64>(options.seed);
  stored.run = witness.trial;
  stored.switches = witness.switches;
  stored.oracle = options.setup.oracle;
  if (witness.failure.kind == "output") stored.oracle.wrong_output = witness.output;
  if (std::string error = campaign::Store(options.setup.dir).save(stored); !error.empty()) say(error);
  return stored.token;
}

/// What is worth a line of its own, once.
void print_notes(const ClassifyOptions& options, campaign::Classifier& classifier,
                 const campaign::ClassifyDocument& verdicts) {
  const std::string& program = options.target[0];
  for (const std::string& what : classifier.found().incomplete) say("incomplete: " + what);
  if (classifier.found().one_thread) say(fmt::format("{} starts no thread: nothing can race", program));
  u64 failed = 0, runs = 0;
  bool settled = true, scheduled = false, charged = false;
  for (const auto& [id, race] : verdicts.races) {
    if (race.variable == nullptr) continue;
    settled = settled && race.verdict.output_settled;
    if (race.verdict.sc_failed != 0) failed = race.verdict.sc_failed, runs = race.verdict.sc_runs;
    scheduled = scheduled || race.verdict.sc_failed != 0;
    charged = charged || race.verdict.charge.reason != campaign::Charge::Reason::kNone;
  }
  if (!settled)
    say(fmt::format(
        "the output of {} differs from schedule to schedule, so it is not used as evidence; --check CMD "
        "says what is right",
        program));
  if (scheduled && !charged)
    say(
        fmt::format("{} fails in {} of {} schedules with sequentially consistent memory, which no race is "
                    "charged with; duress "
                    "explore -- {} shows how",
                    program, failed, runs, fmt::join(options.target, " ")));
  if (classifier.leftovers() != 0)
    say(fmt::format(
        "{} left processes running when it ended; what goes on in the background is not controlled, and was "
        "ended",
        program));
  if (classifier.restarts() != 0)
    say(fmt::format("{} had to be started again {}", program, count_text(classifier.restarts(), "time")));
}

void print_summary(const ClassifyOptions& options, campaign::Classifier& classifier, std::size_t races,
                   u64 suppressed, const std::map<VerdictKind, std::set<std::string>>& variables) {
  auto count = [&](VerdictKind kind) {
    auto it = variables.find(kind);
    return it == variables.end() ? std::size_t{0} : it->second.size();
  };
  std::size_t all = 0;
  for (const auto& [kind, names] : variables) all += names.size();
  std::string text = fmt::format("{} on {}, {} destructive", count_text(races, "race"),
                                 count_text(all, "variable"), count(VerdictKind::kDestructive));
  if (count(VerdictKind::kSlower) != 0) text += fmt::format(", {} slower", count(VerdictKind::kSlower));
  if (count(VerdictKind::kSameValue) != 0)
    text += fmt::format(", {} same value", count(VerdictKind::kSameValue));
  if (count(VerdictKind::kOpen) != 0) text += fmt::format(", {} not judged", count(VerdictKind::kOpen));
  if (suppressed != 0) text += fmt::format(", {} suppressed", suppressed);
  text += fmt::format(", in {}, seed {}", count_text(classifier.runs(), "run"), options.seed);
  if (options.verbose && classifier.seconds() > 0)
    text +=
        fmt::format(" ({:.0f} runs/s)", static_cast<double>(classifier.fresh_runs()) / classifier.seconds());
  if (stop_asked) text += "; interrupted, the same command goes on";
  if (classifier.out_of_time()) text += "; out of time, the same command goes on";
  say(text);
}

int give_up(const ClassifyOptions& options, const campaign::WorkerProblem& problem) {
  say(worker_problem_text(options.target[0], problem));
  return kExitToolFailed;
}

int execute(ClassifyOptions& options) {
  campaign::ClassifySetup& setup = options.setup;
  report::Suppressions suppressions;
  for (const std::string& file : options.suppressions) {
    if (std::string error = suppressions.load(file); !error.empty()) {
      error.rfind(file + ":", 0) == 0 ? say_plain(error) : say(error);
      return kExitWrongUse;
    }
  }
  setup.dir = fs::absolute(options.dir).lexically_normal().string();
  campaign::WorkFolder work(setup.dir);
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  setup.seed = static_cast<u64>(options.seed);
  setup.worker.folder = work.path();
  setup.worker.target = options.target;
  setup.worker.input = campaign::keep_input(work.path() + "/stdin");
  setup.binary =
      options.target[0].find('/') == std::string::npos ? find_program(options.target[0]) : options.target[0];
  catch_signals();

  const bool text = options.json != "-";
  std::unique_ptr<campaign::Names> names = make_names();
  ClassifyScreen screen(options.quiet || !text);
  campaign::Classifier classifier(setup, *names, stop_asked,
                                  [&](const campaign::ClassifyProgress& progress) { screen.show(progress); });
  if (std::string error = classifier.open(); !error.empty()) {
    say(error);
    return kExitToolFailed;
  }
  if (classifier.resumed() != 0 && text && !options.quiet)
    say(fmt::format("going on after {}", count_text(classifier.resumed(), "recorded run")));
  bool found = classifier.find();
  if (classifier.problem().kind != campaign::WorkerProblem::Kind::kNone) {
    screen.clear();
    return give_up(options, classifier.problem());
  }

  report::Report report;
  report.command = "classify";
  report.version = DURESS_VERSION;
  report.seed = options.seed;
  report.target = options.target;
  std::error_code ignored;
  report.cwd = fs::current_path(ignored).string();
  report::fill_report(classifier.found().log, suppressions, report);
  for (auto& race : report.races) race.pid = 0;  // which process it was is chance
  report.crashes.clear();
  report.incomplete.assign(classifier.found().incomplete.begin(), classifier.found().incomplete.end());
  std::vector<finding::Race> all = report.races;
  std::erase_if(report.races, [&](const finding::Race& race) { return !wanted_by(options.only, race); });
  if (found && report.races.empty() && !all.empty()) {
    screen.clear();
    return say_nothing_matches(options, all);
  }
  std::set<std::string> judged;
  for (const finding::Race& race : report.races) judged.insert(race.variable);
  classifier.keep([&](const Variable& variable) { return judged.count(variable.name) != 0; });

  const campaign::FoundRaces& races = classifier.found();
  bool hopeless = races.runs != 0 && races.failed == races.runs;
  if (found && hopeless) {
    screen.clear();
    say(fmt::format(
        "{} already fails with sequentially consistent memory, in all {} runs: {}; races are not judged, "
        "duress explore -- {} shows the failure",
        options.target[0], races.runs, races.failure.text, fmt::join(options.target, " ")));
  } else if (found) {
    classifier.judge();
    screen.clear();
    if (classifier.problem().kind != campaign::WorkerProblem::Kind::kNone)
      return give_up(options, classifier.problem());
  }
  screen.clear();
  report.runs = static_cast<int>(std::min<u64>(classifier.runs(), 0x7fffffff));
  report.seconds = classifier.seconds();

  campaign::ClassifyDocument verdicts;
  verdicts.complete = classifier.complete();
  verdicts.stats = options.stats;
  ClassifyStyle style{use_color(options.color), options.quiet, options.verbose,
                      options.dir == ".duress" ? "" : " --dir " + options.dir};
  std::map<VerdictKind, std::set<std::string>> by_kind;
  std::set<VerdictKind> fresh;  // of races that are not in the baseline
  std::map<std::string, campaign::Figures> figures;
  std::map<std::string, std::string> shown_at;  // id of the race that showed a variable's witness
  for (const finding::Race& race : report.races) {
    RaceVerdict known;
    known.baseline = options.known.count(race.id) != 0;
    auto variable = classifier.variables().find(race.variable);
    if (variable != classifier.variables().end() && !hopeless) {
      known.variable = &variable->second;
      known.verdict = campaign::verdict_of(variable->second);
      auto pairs = variable->second.races.find(finding::group_key(race));
      if (pairs != variable->second.races.end()) {
        for (const campaign::KeyPair& pair : pairs->second)
          known.confirmed = known.confirmed || variable->second.together.count(pair) != 0;
      }
      if (const Witness* witness = variable->second.witness()) known.token = save(race, *witness, options);
      figures[race.variable] = known.verdict.figures;
    }
    by_kind[known.verdict.kind].insert(race.variable);
    if (!known.baseline) fresh.insert(known.verdict.kind);
    std::string& first =
        shown_at[known.variable != nullptr && known.variable->witness() ? race.variable : ""];
    if (text) fmt::print("{}", race_text(race, known, first, style));
    if (known.variable != nullptr && known.variable->witness() && first.empty()) first = race.id;
    verdicts.races[race.id] = std::move(known);
  }
  if (text && options.stats) fmt::print("{}", figures_text(figures));
  std::fflush(stdout);
  if (text && !options.quiet) print_notes(options, classifier, verdicts);
  if (text) print_summary(options, classifier, report.races.size(), report.suppressed, by_kind);
  if (!options.json.empty()) {
    std::string document = campaign::with_verdicts(report::to_json(report), verdicts);
    if (std::string error = campaign::write_document(options.json, document); !error.empty()) {
      say(error);
      return kExitToolFailed;
    }
  }
  bool fails = options.fail_on == "race"
                   ? !fresh.empty()
                   : options.fail_on != "never" && fresh.count(VerdictKind::kDestructive) != 0;
  if (fails) return kExitFindings;
  return stop_asked || classifier.out_of_time() ? kExitOutOfTime : kExitOk;
}

/// Turns what was typed into what is meant; "" or what is wrong.
std::string check(ClassifyOptions& options) {
  campaign::ClassifySetup& setup = options.setup;
  if (options.model == "rc11")
    return "rc11 is about atomics, which do not race: duress explore --model rc11 looks for what it breaks";
  std::vector<std::string> models{"sc", "stale", "future", "both"};
  if (!options.model.empty() && std::find(models.begin(), models.end(), options.model) == models.end())
    return fmt::format("no model is named '{}'{} (known: {})", options.model,
                       nearest_hint(options.model, models), fmt::join(models, ", "));
  std::vector<std::string> known = campaign::attack_names();
  if (!options.heuristic.empty() && std::find(known.begin(), known.end(), options.heuristic) == known.end())
    return fmt::format("no heuristic is named '{}'{} (known: {})", options.heuristic,
                       nearest_hint(options.heuristic, known), fmt::join(known, ", "));
  setup.attacks = campaign::attacks_of(options.model, options.heuristic);
  if (setup.attacks.empty())
    return fmt::format("the model {} has no heuristic {}", options.model, options.heuristic);
  std::optional<double> seconds = campaign::parse_time(options.time.empty() ? "0" : options.time);
  if (!seconds || (*seconds == 0 && !options.time.empty()))
    return fmt::format("'{}' is no time; write 30s, 5m or 2h", options.time);
  std::optional<double> run_seconds = campaign::parse_time(options.run_timeout);
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
  if (!options.baseline.empty()) {
    std::optional<std::string> document = campaign::read_file(options.baseline);
    if (!document) return fmt::format("cannot read '{}': {}", options.baseline, std::strerror(errno));
    std::optional<std::set<std::string>> known_races = campaign::races_in(*document);
    if (!known_races) return fmt::format("'{}' is no document of --json", options.baseline);
    options.known = std::move(*known_races);
  }
  return campaign::check_document(options.json);
}

}  // namespace

int classify_command(const Arguments& arguments) {
  ClassifyOptions options;
  campaign::ClassifySetup& setup = options.setup;
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
                 "destructive (default), race or never: what makes the exit code 66")
      ->check(CLI::IsMember({"destructive", "race", "never"}));
  app.add_option("--json", options.json, "Write one JSON document: --json to stdout, --json=FILE to a file");
  app.add_option("--dir", options.dir, "Folder for findings and the record; default .duress");
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
  setup.runs_given = runs->count() != 0;
  if (std::string error = check(options); !error.empty()) return wrong_use("classify", error);
  return execute(options);
}

}  // namespace duress::cli
