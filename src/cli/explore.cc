// SPDX-License-Identifier: Apache-2.0
//
// `duress explore`: looks for a schedule that makes the program fail. The search itself is src/search's;
// here are its options, what is shown meanwhile, and the words for what it found.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "catalog/heuristics.h"
#include "catalog/lookup.h"
#include "catalog/strategies.h"
#include "cli/cluster_session.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/found_entry.h"
#include "cli/gate.h"
#include "cli/layout.h"
#include "cli/listing.h"
#include "cli/report_files.h"
#include "exec/session.h"
#include "report/discovery_text.h"
#include "report/document.h"
#include "report/failure_text.h"
#include "report/json_writer.h"
#include "report/path.h"
#include "report/resolved_names.h"
#include "report/site_table.h"
#include "search/search.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
constexpr u64 kNoLimit = u64{1} << 40;

using search::Found;
using search::SearchResult;

struct ExploreOptions {
  ReportFiles files;
  search::SearchSetup setup;
  ClusterOptions cluster;
  std::string points = "sync", backend = "fiber", time, run_timeout, dir = ".duress", color = "auto";
  std::string json;  // "-": stdout; "": none
  std::string fail_on = "destructive", baseline;
  Baseline known;
  std::int64_t seed = 1;
  std::string model = "sc", heuristic;
  bool quiet = false, verbose = false, no_minimise = false;
  std::vector<std::string> target;
};

std::atomic<bool> stop_asked{false};

void ask_to_stop(int) {
  stop_asked = true;
}

/// Ctrl-C ends the search, a second one ends us.
void catch_signals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{}, old{};
    action.sa_handler = ask_to_stop;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays nohup
  }
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string plural(u64 count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string rate_text(u64 runs, double seconds) {
  return seconds > 0 ? fmt::format("{:.0f} runs/s", static_cast<double>(runs) / seconds) : "";
}

/// What is shown while the search runs: one line that is written over on a terminal, else one every 10 s.
class Screen : public search::SearchListener {
 public:
  Screen(const ExploreOptions& options, finding::Names& names) : options_(options), names_(names) {
    const char* ci = std::getenv("CI");
    live_ = isatty(STDERR_FILENO) != 0 && (ci == nullptr || *ci == '\0');
    style_.color = exec::wants_color(options.color);
    style_.quiet = options.quiet;
    style_.verbose = options.verbose;
    std::error_code ignored;
    style_.cwd = fs::current_path(ignored).string();
    if (options.dir != ".duress") style_.replay_options = " --dir " + options.dir;
    silent_ = options.json == "-";
  }

  void resumed(u64 run, const std::vector<std::string>& failures) override {
    std::string text = fmt::format("resuming at run {}", run + 1);
    if (!failures.empty()) text += fmt::format(", {} found before", fmt::join(failures, ", "));
    if (!options_.quiet && !silent_) say(text);
  }

  void progress(const search::Progress& progress) override {
    if (options_.quiet || silent_) return;
    double wait = live_ ? 0.2 : 10;
    if (progress.seconds < last_ + wait) return;
    last_ = progress.seconds;
    std::string text = line(progress) + cluster_text();
    if (live_)
      fmt::print(stderr, "\r\033[K{}", text);
    else
      say(text);
    std::fflush(stderr);
    shown_ = live_;
  }

  void found(const Found& found) override {
    clear();
    if (silent_) return;
    report::FailureEntry entry = found_entry(found, false, names_);
    fmt::print(stderr, "{}",
               to_text(entry, options_.target[0], discovery_remarks(entry, options_.seed, style_), style_));
  }

  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  static std::string line(const search::Progress& progress) {
    double rate = progress.seconds > 0 ? static_cast<double>(progress.fresh_runs) / progress.seconds : 0;
    std::string text =
        fmt::format("{}, {}, {}", plural(progress.runs, "run"),
                    rate_text(progress.fresh_runs, progress.seconds), plural(progress.failures, "failure"));
    if (*progress.phase != '\0') return text + ", " + progress.phase;
    double left = progress.most_seconds > 0 ? progress.most_seconds - progress.seconds : 1e9;
    if (progress.most_runs < kNoLimit && rate > 0)
      left = std::min(left, static_cast<double>(progress.most_runs - progress.runs) / rate);
    return left < 1e8 ? text + fmt::format(", {} left", duration_text(std::max(0.0, left))) : text;
  }

  const ExploreOptions& options_;
  finding::Names& names_;
  report::FindingStyle style_;
  bool live_ = false, shown_ = false, silent_ = false;
  double last_ = 0;
};

report::Document document_of(const ExploreOptions& options, const SearchResult& result,
                             finding::Names& names) {
  report::Document document = new_document("explore", options.seed, options.target);
  report::Suppressions none;
  document.runs = static_cast<int>(std::min<u64>(result.runs, 0x7fffffff));
  document.seconds = result.seconds;
  report::fill_document(result.races, none, document);
  // Which process it was is chance; everything else is the same for the same seed.
  for (auto& race : document.races) race.pid = 0;
  for (auto& crash : document.crashes) crash.pid = 0;
  document.incomplete.assign(result.incomplete.begin(), result.incomplete.end());
  document.complete = !result.interrupted && !result.out_of_time;
  document.failures.emplace();
  for (const Found& found : result.found)
    document.failures->push_back(found_entry(found, result.kept_going, names));
  document.found_before = result.earlier;
  mark_known(document, options.known);
  return document;
}

void print_notes(const ExploreOptions& options, const SearchResult& result) {
  const std::string& program = options.target[0];
  for (const std::string& what : result.incomplete) say("incomplete: " + what);
  if (result.one_thread)
    say(fmt::format("{} starts no thread: there is only one schedule, and it passes", program));
  if (result.leftovers != 0)
    say(fmt::format(
        "{} left {} running when it ended; what goes on in the background is not controlled, and was ended",
        program, result.leftovers == 1 ? "a process" : fmt::format("{} processes", result.leftovers)));
  if (result.restarts != 0)
    say(fmt::format("{} had to be started again {}", program, plural(result.restarts, "time")));
  if (result.most_output > (u64{16} << 20))
    say(fmt::format("a run printed {} MiB, which takes most of its time; nothing of it is lost to --check",
                    result.most_output >> 20));
  if (!result.warning.empty()) say(result.warning);
}

void print_summary(const ExploreOptions& options, const SearchResult& result) {
  u64 failures = result.found.size() + result.earlier.size();
  std::string text =
      fmt::format("{} in {} ({})", failures == 0 ? "no failure" : plural(failures, "failure"),
                  plural(result.runs, "run"), rate_text(result.fresh_runs, result.search_seconds));
  text += fmt::format(", seed {}", options.seed);
  if (result.pairs != 0)
    text += fmt::format("; {} seen, {} brought together; list them with duress run",
                        plural(result.pairs, "racing access pair"), result.created.size());
  if (!result.deadlocks.empty())
    text += fmt::format("; {} suspected, {} created, {} unconfirmed",
                        plural(result.deadlocks.size(), "deadlock"), result.deadlocks_created.size(),
                        result.deadlocks.size() - result.deadlocks_created.size());
  if (result.interrupted) text += "; interrupted, the same command goes on";
  if (result.out_of_time) text += "; out of time, the same command goes on";
  say(text);
}

int execute(ExploreOptions& options, const Arguments& arguments) {
  search::SearchSetup& setup = options.setup;
  setup.dir = fs::absolute(options.dir).lexically_normal().string();
  ClusterSession cluster;
  ClusterJob job{"explore", arguments, options.target, setup.dir, options.quiet || options.json == "-"};
  if (std::optional<int> code = cluster.begin(options.cluster, job, stop_asked)) return *code;
  exec::WorkFolder work(cluster.work_dir(setup.dir));
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  setup.worker.folder = work.path();
  setup.worker.target = options.target;
  setup.worker.input = cluster.input(exec::keep_input(work.path() + "/stdin"));
  cluster.use(setup.worker, setup.jobs);

  catch_signals();
  std::unique_ptr<finding::Names> names = make_names();
  Screen screen(options, *names);
  SearchResult result = search::Search(setup, *names, screen).run(stop_asked);
  screen.clear();
  cluster.end(!result.interrupted && result.problem.kind == exec::WorkerProblem::Kind::kNone);
  if (result.problem.kind != exec::WorkerProblem::Kind::kNone) {
    say(worker_problem_text(options.target[0], result.problem));
    return kExitToolFailed;
  }

  if (options.json != "-" && !options.quiet) print_notes(options, result);
  if (options.json != "-") print_summary(options, result);
  report::Document document = document_of(options, result, *names);
  if (!options.json.empty()) {
    std::string error = exec::write_document(options.json, report::to_json(document));
    if (!error.empty()) {
      say(error);
      return kExitToolFailed;
    }
  }
  if (!finish_with_reports(options.files, options.dir, report::json_of(document))) return kExitToolFailed;
  for (const Found& found : result.found) {
    if (fails(options.fail_on, options.known, {found.failure.id, true})) return kExitFindings;
  }
  for (const std::string& id : result.earlier) {
    if (fails(options.fail_on, options.known, {id, true})) return kExitFindings;
  }
  return result.out_of_time || result.interrupted ? kExitOutOfTime : kExitOk;
}

/// Turns what was typed into what is meant; "" or what is wrong.
std::string check(ExploreOptions& options, bool runs_given) {
  search::SearchSetup& setup = options.setup;
  std::optional<StrategyId> strategy = id_of<StrategyId>(setup.search.strategy.c_str());
  bool searches = strategy && *strategy != StrategyId::kReplay && *strategy != StrategyId::kExhaustive;
  if (!searches && setup.search.strategy != "portfolio") {
    std::vector<std::string> known = catalog::names<StrategyId>();
    std::erase_if(known, [](const std::string& name) { return name == "replay" || name == "exhaustive"; });
    known.insert(known.begin(), "portfolio");
    return catalog::unknown_name("strategy to search with", setup.search.strategy, known);
  }
  if (options.points != "sync" && options.points != "all") return "--points is sync or all";
  if (std::string error =
          catalog::check_model(options.model, options.heuristic, setup.search.model, setup.search.heuristic);
      !error.empty())
    return error;
  std::optional<double> seconds = exec::parse_time(options.time.empty() ? "0" : options.time);
  std::optional<double> run_seconds = exec::parse_time(!options.run_timeout.empty()  ? options.run_timeout
                                                       : options.backend == "thread" ? "60s"
                                                                                     : "10s");
  if (!seconds || (*seconds == 0 && !options.time.empty()))
    return fmt::format("'{}' is no time; write 30s, 5m or 2h", options.time);
  if (!run_seconds || *run_seconds == 0)
    return fmt::format("'{}' is no time; write 30s, 5m or 2h", options.run_timeout);
  setup.seconds = *seconds;
  setup.worker.run_seconds = *run_seconds;
  if (setup.seconds > 0 && !runs_given) setup.runs = kNoLimit;  // the time is the limit then
  if (setup.runs == 0) return "--runs must be at least 1";
  if (setup.jobs == 0) setup.jobs = std::max(1u, std::thread::hardware_concurrency());
  setup.search.seed = static_cast<u64>(options.seed);
  setup.search.points = options.points == "all" ? trail::Points::kAll : trail::Points::kSync;
  setup.search.backend = options.backend == "thread" ? trail::Backend::kThread : trail::Backend::kFiber;
  setup.minimise = !options.no_minimise;
  if (!setup.oracle.expected_output.empty()) {
    setup.oracle.expected_output = fs::absolute(setup.oracle.expected_output).lexically_normal().string();
    if (access(setup.oracle.expected_output.c_str(), R_OK) != 0)
      return fmt::format("cannot read '{}': {}", setup.oracle.expected_output, std::strerror(errno));
  }
  if (std::string error = options.files.check(); !error.empty()) return error;
  return exec::check_document(options.json);
}

}  // namespace

std::unique_ptr<finding::Names> make_names() {
  return std::make_unique<report::ResolvedNames>();
}

std::string worker_problem_text(const std::string& program, const exec::WorkerProblem& problem) {
  if (problem.kind != exec::WorkerProblem::Kind::kEnded) return problem.text;
  std::string path = program.find('/') == std::string::npos ? find_program(program) : program;
  if (report::SiteTable::load(path).size() != 0) return problem.text;
  return fmt::format("{} is not instrumented; build it with duress-cc or duress-c++", program);
}

int explore_command(const Arguments& arguments) {
  ExploreOptions options;
  search::SearchSetup& setup = options.setup;
  setup.jobs = 0;
  CLI::App app("Looks for a schedule that makes an instrumented program fail; replays and minimises it.",
               "duress explore");
  app.prefix_command();
  app.set_help_flag("-h,--help", "This text");
  app.add_option(
      "-t,--tool", setup.worker.chain,
      "Chain of analyses of the runs that look for races; default FastTrack. What analyses only suspect "
      "(Hybrid, LockSet, SideTrack, ...) is attacked too");
  app.add_option("--strategy", setup.search.strategy,
                 "portfolio (default) or one strategy (see duress list strategies)");
  app.add_option("--depth", setup.search.depth, "Depth of the bugs that pct looks for; default 3")
      ->check(CLI::Range(1, 1000));
  app.add_option(
      "--points", options.points,
      "Where threads may be switched: sync (default: synchronisation, atomics, racing accesses) or all "
      "(every access)");
  app.add_option("--model", options.model,
                 "Memory model: sc (default), or rc11: atomics as weak as C++20 allows");
  app.add_option("--heuristic", options.heuristic,
                 "Which legal value a load returns (see duress list heuristics); default: all in turn");
  CLI::Option* runs = app.add_option("--runs", setup.runs, "How many executions at most; default 1000")
                          ->check(CLI::PositiveNumber);
  app.add_option("--time", options.time, "How long at most: 30s, 5m, 2h");
  app.add_option("--seed", options.seed, "Where everything random comes from; default 1");
  app.add_option("-j,--jobs", setup.jobs,
                 "Executions side by side; default: cores. Results do not depend on it");
  app.add_option("--check", setup.oracle.check,
                 "Shell command that reads a run's output; a code other than 0 is a failure");
  app.add_option("--expect-output", setup.oracle.expected_output, "File that every run's output must equal");
  app.add_option("--expect-exit", setup.oracle.expect_exit, "The exit code that means success; default 0")
      ->check(CLI::Range(0, 255));
  app.add_option("--max-steps", setup.search.most_steps,
                 "Schedule points after which a run counts as endless");
  app.add_option("--run-timeout", options.run_timeout,
                 "How long one run may take; default 10s, with --backend thread 60s");
  app.add_option("--backend", options.backend, "fiber (default) or thread: what runs the program's threads")
      ->check(CLI::IsMember({"fiber", "thread"}));
  app.add_flag("--keep-going", setup.keep_going, "Go on after a failure, to find others");
  app.add_flag("--no-minimise,--no-minimize", options.no_minimise, "Show the failing run as it was found");
  app.add_option("--baseline", options.baseline,
                 "Document of an earlier --json; failures in it do not make the exit code 66");
  app.add_option(
         "--fail-on", options.fail_on,
         "destructive (default: any failure), new-destructive, race or never: what makes the exit code 66")
      ->check(CLI::IsMember(fail_on_names()));
  app.add_option("--json", options.json, "Write one JSON document: --json to stdout, --json=FILE to a file");
  options.files.add_to(app);
  app.add_option("--dir", options.dir, "Folder for findings and records; default .duress");
  add_cluster_options(app, options.cluster);
  app.add_flag("-q,--quiet", options.quiet, "Only the first line of each failure, and the summary");
  app.add_flag("-v,--verbose", options.verbose, "All frames of all stacks");
  app.add_option("--color", options.color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.footer(
      "Exit code 66: a failure was found; 0: none in all runs; 124: none when the time was over; 2: wrong "
      "use;\n"
      "125: duress itself failed, the program could not be started, or it is not instrumented.\n\n"
      "  duress explore -- ./queue_test\n"
      "  duress explore --time 5m -j 8 --check 'grep -q total=100' -- ./bank 10");
  try {
    options.target = parse_with_target(app, arguments, {{"--json", "-"}, {"--color", "always"}}, {"--json"});
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_text(app, "-- PROG ARGS"));
    return kExitOk;
  } catch (const CLI::ParseError& parse_error) {
    return wrong_use("explore", parse_error.what());
  }
  if (options.target.empty() || options.target[0].empty())
    return wrong_use("explore", "no program given; put it and its arguments after --");
  pass_on_listing(options.target);
  if (!options.baseline.empty()) {
    if (std::string error = options.known.load(options.baseline); !error.empty())
      return wrong_use("explore", error);
  }
  if (std::string error = check(options, runs->count() != 0); !error.empty())
    return wrong_use("explore", error);
  return execute(options, arguments);
}

}  // namespace duress::cli
