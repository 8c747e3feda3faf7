// SPDX-License-Identifier: Apache-2.0
//
// `duress verify`: every interleaving of a program up to equivalence. Either no race and no failure in any of
// them, which is a proof for this program and this input, or an interleaving that shows one.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <thread>

#include "cli/cluster_session.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/gate.h"
#include "cli/report_files.h"
#include "exec/session.h"
#include "exec/token_text.h"
#include "repair/advice.h"
#include "repair/orders.h"
#include "repair/weaken.h"
#include "report/failure_text.h"
#include "report/json_writer.h"
#include "report/path.h"
#include "report/report.h"
#include "verify/verifier.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;
using verify::VerifyResult;

std::atomic<bool> stop_asked{false};

struct VerifyOptions {
  ReportFiles files;
  verify::VerifySetup setup;
  ClusterOptions cluster;
  std::string json, dir = ".duress", color = "auto", time, run_timeout = "10s", model = "sc",
                    fail_on = "race", baseline, order = "run-on";
  std::int64_t seed = 1;
  bool quiet = false, verbose = false, no_advice = false, weaken = false;
  std::vector<std::string> target;
  Baseline known;
};

std::string number_text(u64 n) {
  std::string digits = std::to_string(n), text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string interleavings_text(u64 n) {
  return number_text(n) + (n == 1 ? " interleaving" : " interleavings");
}

std::string side_text(const finding::AccessReport& side) {
  finding::Frame site = side.site();
  std::string locks = side.locks.empty() ? "nothing" : fmt::format("{}", fmt::join(side.locks, ", "));
  bool reads = side.access == finding::Access::kRead || side.access == finding::Access::kAtomicRead;
  return report::printable(fmt::format("  T{} {:<7} {}  {}:{}  holds {}", side.thread,
                                       reads ? "reads" : "writes", site.function,
                                       fs::path(site.file).filename().string(), site.line, locks));
}

bool same_place(const finding::AccessReport& a, const finding::AccessReport& b) {
  finding::Frame x = a.site(), y = b.site();
  return x.file == y.file && x.line == y.line && x.column == y.column && a.access == b.access;
}

/// Not by the id: of several races that are alike but for their lines, only the first has the id that it
/// would have alone.
bool same_race(const finding::Race& a, const finding::Race& b) {
  return a.variable == b.variable &&
         ((same_place(a.sites[0], b.sites[0]) && same_place(a.sites[1], b.sites[1])) ||
          (same_place(a.sites[0], b.sites[1]) && same_place(a.sites[1], b.sites[0])));
}

/// The execution that shows the race.
const verify::RacyExecution* shown_by(const finding::Race& race, const VerifyResult& result) {
  for (const verify::RacyExecution& racy : result.racy) {
    finding::RunLog log;
    log.processes.push_back(racy.log);
    report::Report one;
    report::Suppressions none;
    report::fill_report(log, none, one);
    for (const finding::Race& other : one.races) {
      if (same_race(other, race)) return &racy;
    }
  }
  return nullptr;
}

void print_race(const finding::Race& race, const VerifyResult& result, const VerifyOptions& options) {
  finding::Frame place = race.sites[race.headline()].site();
  fmt::print("{}:{}:{}: error: data race on {} [{}]\n", report::printable(report_path(place.file)),
             place.line, place.column, report::printable(race.variable), race.id);
  if (options.quiet) return;
  for (const finding::AccessReport& side : race.sites) fmt::print("{}\n", side_text(side));
  if (const verify::RacyExecution* racy = shown_by(race, result)) {
    fmt::print("  in {} of {}; the shortest found needs {}\n", number_text(racy->executions),
               interleavings_text(result.interleavings), report::switches_text(racy->switches));
    if (!racy->token.empty() && racy->token.size() < 400) fmt::print("  token: {}\n", racy->token);
  }
}

void print_failure(const search::Found& found, const VerifyOptions& options, finding::Names& names) {
  report::FailureStyle style;
  style.color = exec::wants_color(options.color);
  style.quiet = options.quiet;
  style.verbose = options.verbose;
  std::vector<std::string> remarks;
  remarks.push_back(fmt::format(
      "needs {}{}; {} so", report::switches_text(found.switches),
      found.fewest ? "" : ", perhaps not the fewest",
      found.times == 1 ? "one interleaving fails" : number_text(found.times) + " interleavings fail"));
  std::string dir = options.dir == ".duress" ? "" : " --dir " + options.dir;
  remarks.push_back(fmt::format("replay: duress replay {}{}", found.failure.id, dir));
  report::FailureView view{found.failure, found.logs, options.target[0], found.errors, remarks};
  fmt::print("{}", to_text(view, names, style));
}

/// Races first: a fix is for all of them, and goes by the id of any.
std::vector<std::string> finding_ids(const report::Report& report, const VerifyResult& result) {
  std::vector<std::string> ids;
  for (const finding::Race& race : report.races) ids.push_back(race.id);
  for (const search::Found& found : result.found) ids.push_back(found.failure.id);
  return ids;
}

void print_advice(const repair::Advice& advice, const std::string& id, const VerifyOptions& options) {
  fmt::print("fix: {}: no race and no failure in all {} then\n", report::printable(advice.text),
             interleavings_text(advice.interleavings));
  std::string dir = options.dir == ".duress" ? "" : " --dir " + options.dir;
  if (!advice.edits.empty()) fmt::print("  as a diff: duress fix {}{}; with --apply it is made\n", id, dir);
}

/// Which memory orders are needed.
std::vector<repair::Weakened> print_orders(VerifyOptions& options, const VerifyResult& result,
                                           finding::Names& names) {
  if (!result.complete || !result.racy.empty() || !result.found.empty()) {
    say("no order is weakened: the program as it is must be proved first");
    return {};
  }
  return repair::weaken(options.setup, result, names, stop_asked, [&](const repair::Weakened& one) {
    if (options.json == "-") return;
    std::string verdict =
        one.needed() ? fmt::format("{} is needed", repair::order_text(one.order))
                     : fmt::format("{} is enough, not {} (no race and no failure in all {} executions)",
                                   repair::order_text(one.sufficient), repair::order_text(one.order),
                                   number_text(one.executions));
    if (!one.found.empty()) verdict += fmt::format("; with {}", one.found);
    if (one.bounded) verdict += "; weaker ones have too many executions to say";
    fmt::print("{}:{}:{}: {}: {}\n", report_path(one.place.file), one.place.line, one.place.column,
               repair::kind_text(one.kind), verdict);
    fflush(stdout);
  });
}

/// What bounds the ends of waits that were explored.
std::string ends_text(const verify::VerifySetup& setup) {
  auto times = [](u32 n, const char* one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); };
  std::string text;
  if (setup.spurious != 0) text += ", with at most " + times(setup.spurious, "spurious wake-up");
  if (setup.timeouts != 0)
    text += (text.empty() ? ", with at most " : " and ") + times(setup.timeouts, "early timeout");
  return text.empty() ? text : text + " in a row at a wait";
}

void print_summary(const VerifyResult& result, const report::Report& report, const VerifyOptions& options) {
  std::string what;
  std::size_t races = report.races.size(), failures = result.found.size();
  if (races != 0) what += fmt::format("{} race{}", races, races == 1 ? "" : "s");
  if (failures != 0)
    what += fmt::format("{}{} failure{}", what.empty() ? "" : ", ", failures, failures == 1 ? "" : "s");
  if (what.empty()) what = "no race and no failure";
  double rate =
      result.explore_seconds > 0 ? static_cast<double>(result.interleavings) / result.explore_seconds : 0;
  std::string all = interleavings_text(result.interleavings);
  if (options.model == "rc11")
    all = number_text(result.interleavings) + (result.interleavings == 1 ? " execution" : " executions") +
          " of rc11, load buffering excluded";
  all += ends_text(options.setup);
  if (result.complete) {
    std::string proof;
    if (races == 0 && failures == 0) {
      proof = ": proved for this program and its input";
      if (result.waited && result.spurious == 0)
        proof += fmt::format(", if waits end only by signals{}",
                             options.setup.model == 0 ? " (see --spurious)" : "");
    }
    say(fmt::format("complete: {} in all {} ({:.0f}/s){}", what, all, rate, proof));
  } else {
    say(fmt::format("bounded: {} in {} ({:.0f}/s); not everything was explored:", what, all, rate));
    for (const std::string& bound : result.bounds) say("  " + bound);
  }
}

int execute(VerifyOptions& options, const Arguments& arguments) {
  options.setup.dir = fs::absolute(options.dir).lexically_normal().string();
  ClusterSession cluster;
  ClusterJob job{"verify", arguments, options.target, options.setup.dir,
                 options.quiet || options.json == "-"};
  if (std::optional<int> code = cluster.begin(options.cluster, job, stop_asked)) return *code;
  exec::WorkFolder work(cluster.work_dir(options.setup.dir));
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  options.setup.seed = static_cast<u64>(options.seed);
  options.setup.worker.folder = work.path();
  options.setup.worker.target = options.target;
  options.setup.worker.input = cluster.input(exec::keep_input(work.path() + "/stdin"));
  cluster.use(options.setup.worker, options.setup.jobs);
  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);

  std::unique_ptr<finding::Names> names = make_names();
  bool live = isatty(STDERR_FILENO) != 0 && !options.quiet;
  double shown = 0;
  verify::Verifier verifier(options.setup, *names, [&](u64 interleavings, u64 waiting, double seconds) {
    double wait = live ? 0.2 : 10;
    if (options.quiet || options.json == "-" || seconds < shown + wait) return;
    shown = seconds;
    std::string text = fmt::format("{} seen, {:.0f}/s, {} steps wait", interleavings_text(interleavings),
                                   static_cast<double>(interleavings) / seconds, number_text(waiting)) +
                       cluster_text();
    if (live)
      fmt::print(stderr, "\r\033[K{}", text);
    else
      say(text);
  });
  VerifyResult result = verifier.run(stop_asked);
  if (live) fmt::print(stderr, "\r\033[K");
  if (result.problem.kind != exec::WorkerProblem::Kind::kNone) {
    cluster.end(false);
    say(worker_problem_text(options.target[0], result.problem));
    return kExitToolFailed;
  }

  report::Report report;
  report::Suppressions none;
  report.command = "verify";
  report.version = DURESS_VERSION;
  report.seed = options.seed;
  report.target = options.target;
  report.runs = static_cast<int>(std::min<u64>(result.interleavings, 0x7fffffff));
  report.seconds = result.seconds;
  std::error_code ignored;
  report.cwd = fs::current_path(ignored).string();
  report::fill_report(result.races, none, report);
  for (auto& race : report.races) race.pid = 0;
  report.incomplete.assign(result.incomplete.begin(), result.incomplete.end());
  std::vector<repair::Weakened> orders;
  if (options.weaken) orders = print_orders(options, result, *names);
  std::optional<repair::Advice> advice;
  // Under rc11 a failure, too, may be there only because an order is too weak.
  bool to_mend = !result.racy.empty() || (options.setup.model != 0 && !result.found.empty());
  if (!options.no_advice && to_mend && !result.interrupted && !result.out_of_time)
    advice = repair::advise(options.setup, result, *names, stop_asked);
  cluster.end(!stop_asked);
  for (const std::string& id : finding_ids(report, result)) {
    if (!advice) break;
    if (std::string error = save_advice(options.setup.dir, id, *advice); !error.empty()) say(error);
  }
  if (options.json != "-") {
    for (const finding::Race& race : report.races) print_race(race, result, options);
    for (const search::Found& found : result.found) print_failure(found, options, *names);
    if (advice) print_advice(*advice, finding_ids(report, result)[0], options);
    print_summary(result, report, options);
  }
  std::map<std::string, std::string> replays;
  std::map<std::string, repair::Advice> fixes;
  for (const finding::Race& race : report.races) {
    if (const verify::RacyExecution* racy = shown_by(race, result)) replays[race.id] = racy->token;
    if (advice) fixes[race.id] = *advice;
  }
  std::string document = repair::with_verification(report::to_json(report), result, replays, advice, *names);
  document = with_baseline(repair::with_fixes(document, fixes), options.known);
  if (options.weaken) document = repair::with_orders(document, orders);
  if (!options.json.empty()) {
    if (std::string error = exec::write_document(options.json, document); !error.empty()) {
      say(error);
      return kExitToolFailed;
    }
  }
  if (!finish_with_reports(options.files, options.dir, document, replays)) return kExitToolFailed;
  for (const finding::Race& race : report.races) {
    if (fails(options.fail_on, options.known, {race.id, false})) return kExitFindings;
  }
  for (const search::Found& found : result.found) {
    if (fails(options.fail_on, options.known, {found.failure.id, true})) return kExitFindings;
  }
  return result.out_of_time || result.interrupted ? kExitOutOfTime : kExitOk;
}

}  // namespace

int verify_command(const Arguments& arguments) {
  VerifyOptions options;
  verify::VerifySetup& setup = options.setup;
  setup.jobs = 0;
  CLI::App app("Looks at every interleaving of a program, up to equivalence, for races and failures.",
               "duress verify");
  app.prefix_command();
  app.set_help_flag("-h,--help", "This text");
  app.add_option("--preemptions", setup.preemptions,
                 "Only interleavings that stop a running thread at most so often")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--model", options.model,
                 "The memory model: sc (default), or rc11: also what relaxed, acquire and release allow")
      ->check(CLI::IsMember({"sc", "rc11"}));
  app.add_option(
         "--spurious", setup.spurious,
         "Waits on conditions may end with no signal: at most N times (default 1) in a row of a thread at a "
         "place, until it is signalled")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--timeouts", setup.timeouts,
                 "Timeouts may come before anything else happens, with the same bound; else they come only "
                 "when nothing "
                 "else can happen")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--order", options.order,
         "Which interleavings come first: run-on (default), writes-first, watch-written, avoid-release, "
         "acquire-first")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(exhaustive::kOrderNames), std::end(exhaustive::kOrderNames))));
  app.add_option("--time", options.time, "Stop after this long: 30s, 5m, 2h");
  app.add_option("--runs", setup.most_executions, "Stop after so many executions")
      ->check(CLI::PositiveNumber);
  app.add_option("-j,--jobs", setup.jobs,
                 "Executions side by side; default: cores. The results are the same");
  app.add_option("--seed", options.seed, "What the program's own random numbers come from; default 1");
  app.add_option("--check", setup.oracle.check,
                 "Command that reads a run's output; another code than 0: wrong");
  app.add_option("--expect-output", setup.oracle.expected_output, "File with the only right output");
  app.add_option("--expect-exit", setup.oracle.expect_exit, "The right exit code; default 0");
  app.add_option("--run-timeout", options.run_timeout, "How long one run may take; default 10s");
  app.add_option(
         "--fail-on", options.fail_on,
         "race (default), destructive or new-destructive (failures, not races alone), never: what makes "
         "the exit code 66")
      ->check(CLI::IsMember(fail_on_names()));
  app.add_option("--baseline", options.baseline,
                 "Document of an earlier --json; what is in it does not make the exit code 66");
  app.add_flag("--weaken", options.weaken,
               "With --model rc11: which memory orders are needed; each is weakened, one at a time");
  app.add_flag("--no-advice", options.no_advice, "Do not look for a change that fixes the races");
  app.add_option("--json", options.json, "Write one JSON document: --json to stdout, --json=FILE to a file");
  options.files.add_to(app);
  app.add_option("--dir", options.dir, "Folder for findings; default .duress");
  add_cluster_options(app, options.cluster);
  app.add_option("--color", options.color, "auto, always or never");
  app.add_flag("-q,--quiet", options.quiet, "Only the first line of each finding");
  app.add_flag("-v,--verbose", options.verbose, "All frames of stacks");
  app.footer(
      "0: nothing found; 66: a race or a failure; 124: out of time with nothing found; 2: wrong use; 125: "
      "the\n"
      "program could not be started, or it is not instrumented.\n\n"
      "  duress verify -- ./lock_test\n"
      "  duress verify --preemptions 2 --time 5m -- ./queue_test\n"
      "  duress verify --spurious --timeouts -- ./queue_test\n"
      "  duress verify --model rc11 --weaken -- ./lock_test");
  try {
    options.target = parse_with_target(
        app, arguments, {{"--json", "-"}, {"--color", "always"}, {"--spurious", "1"}, {"--timeouts", "1"}},
        {"--json", "--spurious", "--timeouts"});
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_text(app, "-- PROG ARGS"));
    return kExitOk;
  } catch (const CLI::ParseError& parse_error) {
    return wrong_use("verify", parse_error.what());
  }
  if (options.target.empty() || options.target[0].empty())
    return wrong_use("verify", "no program given; put it and its arguments after --");
  if (!options.baseline.empty()) {
    if (std::string error = options.known.load(options.baseline); !error.empty())
      return wrong_use("verify", error);
  }
  std::optional<double> run_seconds = exec::parse_time(options.run_timeout);
  if (!run_seconds || *run_seconds == 0)
    return wrong_use("verify", fmt::format("'{}' is no time; write 30s, 5m or 2h", options.run_timeout));
  setup.worker.run_seconds = *run_seconds;
  for (u32 i = 0; i < std::size(exhaustive::kOrderNames); ++i) {
    if (options.order == exhaustive::kOrderNames[i]) setup.order = static_cast<exhaustive::Order>(i);
  }
  if (!options.time.empty()) {
    std::optional<double> seconds = exec::parse_time(options.time);
    if (!seconds || *seconds == 0)
      return wrong_use("verify", fmt::format("'{}' is no time; write 30s, 5m or 2h", options.time));
    setup.seconds = *seconds;
  }
  if (options.weaken && options.model != "rc11") return wrong_use("verify", "--weaken needs --model rc11");
  setup.profile = options.weaken;
  if (options.model == "rc11") {
    setup.model = exec::kRc11Model;
    if (setup.preemptions >= 0) return wrong_use("verify", "--preemptions is for --model sc");
    if (options.order != "run-on") return wrong_use("verify", "--order is for --model sc");
    if (setup.spurious != 0) return wrong_use("verify", "--spurious is for --model sc");
    if (setup.timeouts != 0) return wrong_use("verify", "--timeouts is for --model sc");
  }
  if (setup.jobs == 0) setup.jobs = std::max(1u, std::thread::hardware_concurrency());
  for (const std::string& error : {exec::check_document(options.json), options.files.check()}) {
    if (!error.empty()) return wrong_use("verify", error);
  }
  return execute(options, arguments);
}

}  // namespace duress::cli
