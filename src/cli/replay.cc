// SPDX-License-Identifier: Apache-2.0
//
// `duress replay`: one execution again, as a token or a finding's id names it.
#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/layout.h"
#include "exec/files.h"
#include "exec/oracle.h"
#include "exec/session.h"
#include "exec/single_run.h"
#include "exec/store.h"
#include "exec/target_start.h"
#include "exec/token_text.h"
#include "exec/worker.h"
#include "report/failure_text.h"
#include "report/trace_text.h"
#include "report/words.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTraced = 2000;  // steps; a page that nobody reads to its end helps nobody

struct ReplayOptions {
  std::string what;  // id, token or @file
  bool trace = false, gdb = false, quiet = false, verbose = false;
  std::string backend = "fiber", dir = ".duress", run_timeout, color = "auto";
  u64 times = 1;
  exec::OracleOptions oracle;
  std::vector<std::string> target;
  // Made of these:
  exec::Plan plan;
  std::string folder;    // to start it in; "": ours
  std::string input;     // "": none
  std::string expected;  // the recorded failure's id; "": not known
  double run_seconds = 10;
};

std::atomic<int> interrupted{0};

void note_interrupt(int) {
  interrupted = 1;
}

exec::SingleRun single_run(const ReplayOptions& options, const std::string& folder) {
  exec::SingleRunOptions single;
  single.target = options.target;
  single.start_in = options.folder;
  single.input = options.input;
  single.folder = folder;
  single.run_seconds = options.run_seconds;
  single.pass_on = options.times == 1;
  return exec::SingleRun(std::move(single));
}

/// Fills in what the id or the token says. "" or what is wrong, as a user's mistake.
std::string resolve(ReplayOptions& options) {
  std::string text = options.what;
  if (exec::is_failure_id(text)) {
    std::string error, dir = fs::absolute(options.dir).lexically_normal().string();
    std::optional<exec::StoredFinding> finding = exec::Store(dir).load(text, error);
    if (!finding) return error;
    text = finding->token;
    // A race is known by its own id, what it does by that of the failure.
    options.expected = finding->id.rfind("R-", 0) == 0 ? finding->failure_id : finding->id;
    options.oracle = finding->oracle;
    options.input = finding->input;
    for (const std::string& variable : finding->environment) {
      std::size_t sign = variable.find('=');
      setenv(variable.substr(0, sign).c_str(), variable.c_str() + (sign == std::string::npos ? 0 : sign + 1),
             1);
    }
    if (options.target.empty()) {
      options.target = finding->target;
      std::error_code ignored;
      if (finding->folder != fs::current_path(ignored).string()) options.folder = finding->folder;
    }
  }
  exec::TokenText token = exec::read_token_text(text);
  if (!token.error.empty()) return token.error;
  if (options.target.empty()) return "a token needs its program: duress replay TOKEN -- PROG ARGS";
  if (std::string error = exec::check_token_program(token, options.target[0]); !error.empty()) return error;
  options.plan = std::move(token.plan);
  options.plan.head.backend =
      options.backend == "thread" || options.gdb ? trail::Backend::kThread : trail::Backend::kFiber;
  options.plan.head.trace = options.trace;
  return {};
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  long width = columns != nullptr ? std::strtol(columns, nullptr, 10) : 0;
  return width > 0 ? static_cast<std::size_t>(width) : 120;
}

void print_trace(finding::RunLogs& logs, finding::Names& names, bool all) {
  if (logs.steps.empty()) {
    say("the program wrote no trace");
    return;
  }
  if (!all && logs.steps.size() > kMostTraced) {
    std::size_t dropped = logs.steps.size() - kMostTraced;
    logs.steps.erase(logs.steps.begin(), logs.steps.begin() + static_cast<std::ptrdiff_t>(dropped));
    fmt::print("… {} earlier steps (-v shows all)\n", dropped);
  }
  fmt::print("{}", report::trace_text(logs, names, terminal_width()));
  std::fflush(stdout);
}

/// Says if the execution went another way than the trail.
void print_divergence(const exec::Execution& execution) {
  if (execution.record.diverged == 0) return;
  say(fmt::format(
      "diverged at choice {}: the thread or value that the trail names was not to be had there; the program, "
      "its input or what it reads from outside is not what it was",
      execution.record.diverged - 1));
}

int run_in_gdb(const ReplayOptions& options, const std::string& folder) {
  if (find_program("gdb").empty()) {
    say("gdb is not installed; install it, or see the execution with --trace");
    return kExitWrongUse;
  }
  exec::SingleRun single = single_run(options, folder);
  if (std::string error = single.prepare(options.plan); !error.empty()) {
    say(error);
    return kExitToolFailed;
  }
  if (!options.folder.empty()) {
    std::error_code code;
    fs::current_path(options.folder, code);
    if (code) {
      say(fmt::format("cannot go to '{}': {}", options.folder, code.message()));
      return kExitToolFailed;
    }
  }
  // What gdb itself adds to the environment would move the program's stack. Failures that are no signals (a
  // deadlock, an exit code) end the process by exit_group, with every thread still where it was.
  std::vector<std::string> words{"gdb",   "-q",
                                 "-ex",   "unset environment LINES",
                                 "-ex",   "unset environment COLUMNS",
                                 "-ex",   "catch syscall exit_group",
                                 "-ex",   "run < " + (options.input.empty() ? "/dev/null" : options.input),
                                 "--args"};
  words.insert(words.end(), options.target.begin(), options.target.end());
  say("gdb stops at the failure; 'info threads' lists the threads, 'thread apply all bt' their stacks, "
      "'quit' ends");
  LaunchResult result =
      launch(words, {{"DURESS_OPTIONS", exec::with_user_options(single.runtime_options())}});
  if (result.start_error != 0) {
    say(fmt::format("cannot start gdb: {}", std::strerror(result.start_error)));
    return kExitToolFailed;
  }
  return kExitOk;
}

/// What several replays of one token had in common.
struct Tally {
  u64 failed = 0, same = 0, equal = 0;
};

int replay_all(ReplayOptions& options, const std::string& folder) {
  exec::Oracle oracle(options.oracle);
  exec::SingleRun single = single_run(options, folder);
  std::string error = oracle.load();
  if (error.empty()) error = single.prepare(options.plan);
  std::unique_ptr<finding::Names> names = make_names();
  std::error_code ignored;
  report::FindingStyle style{exec::wants_color(options.color), options.quiet, options.verbose,
                             fs::current_path(ignored).string()};
  Tally tally;
  exec::Trail first_trail;
  std::string first_output, first_id = options.expected;
  for (u64 time = 0; time < options.times && error.empty() && interrupted == 0; ++time) {
    std::optional<exec::Execution> execution = single.run(options.plan, error);
    if (!execution) break;
    if (!execution->began()) {
      exec::WorkerProblem problem{exec::WorkerProblem::Kind::kEnded,
                                  options.target[0] + " ended before it could be controlled"};
      error = worker_problem_text(options.target[0], problem);
      break;
    }
    finding::RunLogs logs = single.take_logs(*execution);
    std::optional<finding::Failure> failure = oracle.failure_of(*execution, single.captured());
    if (failure) {
      identify(*failure, logs, *names);
      // The record may have given it a longer id, because another failure had the short one.
      if (options.expected.rfind(failure->id, 0) == 0) failure->id = options.expected;
    }
    std::string output = exec::read_file(single.captured().output).value_or("") + '\0' +
                         exec::without_process_ids(exec::read_file(single.captured().errors).value_or(""));
    if (time == 0) {
      first_trail = execution->trail;
      first_output = output;
      if (failure && first_id.empty()) first_id = failure->id;
    }
    tally.failed += failure ? 1 : 0;
    tally.same += failure && failure->id == first_id ? 1 : 0;
    tally.equal += execution->trail == first_trail && output == first_output ? 1 : 0;
    if (time != 0) continue;

    if (options.trace) print_trace(logs, *names, options.verbose);
    print_divergence(*execution);
    if (!failure) {
      say(options.times == 1 ? "it did not fail this time" : "it did not fail the first time");
      continue;
    }
    std::vector<std::string> remarks{"with " + report::switches_text(execution->record.switches)};
    if (!options.expected.empty() && failure->id != options.expected)
      remarks.push_back("another failure than the recorded " + options.expected);
    fmt::print(stderr, "{}",
               to_text(report::describe_failure(*failure, logs, *names), options.target[0], remarks, style));
  }
  if (!error.empty()) {
    say(error);
    return kExitToolFailed;
  }
  if (options.times > 1)
    say(fmt::format("failed {} of {} times, in the same way {} times; {} times with equal choices and output",
                    tally.failed, options.times, tally.same, tally.equal));
  return tally.failed != 0 ? kExitFindings : kExitOk;
}

}  // namespace

int replay_command(const Arguments& arguments) {
  ReplayOptions options;
  CLI::App app("Executes a program once more as a finding's id or a token says.", "duress replay");
  app.set_help_flag("-h,--help", "This text");
  app.add_option("what", options.what, "Id of a finding (F-12ab), token (D1.prog.xyz) or @FILE with one");
  app.add_flag("--trace", options.trace, "Print every step, a column per thread");
  app.add_flag("--gdb", options.gdb, "Run it in gdb, with a thread of the system for each of its own");
  app.add_option("--backend", options.backend, "fiber (default) or thread: what runs the program's threads")
      ->check(CLI::IsMember({"fiber", "thread"}));
  app.add_option("--times", options.times, "Repeat it, and say how often it was the same; default 1")
      ->check(CLI::Range(u64{1}, u64{1} << 32));
  app.add_option("--check", options.oracle.check, "As of duress explore; an id knows its own");
  app.add_option("--expect-output", options.oracle.expected_output, "Likewise");
  app.add_option("--expect-exit", options.oracle.expect_exit, "Likewise")->check(CLI::Range(0, 255));
  app.add_option("--run-timeout", options.run_timeout,
                 "How long it may take; default 10s, with --backend thread 60s");
  app.add_option("--dir", options.dir, "Folder that holds the finding; default .duress");
  app.add_flag("-q,--quiet", options.quiet, "Only the first line of the failure");
  app.add_flag("-v,--verbose", options.verbose, "All frames of all stacks, all steps of a trace");
  app.add_option("--color", options.color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.footer(
      "Exit code 66: it failed again; 0: it ended well; 2: wrong use, or a token of another program or "
      "version;\n"
      "125: duress itself failed or the program could not be started.\n\n"
      "  duress replay F-12ab --trace\n"
      "  duress replay D1.queue_test.AQAB... -- ./queue_test");
  auto mark = std::find(arguments.begin(), arguments.end(), "--");
  Arguments ours(std::make_reverse_iterator(mark), arguments.rend());  // CLI11 takes words from the back
  if (mark != arguments.end()) options.target.assign(mark + 1, arguments.end());
  try {
    app.parse(ours);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return kExitOk;
  } catch (const CLI::ParseError& parse_error) {
    return wrong_use("replay", parse_error.what());
  }
  if (options.what.empty()) return wrong_use("replay", "which execution? give an id (F-12ab) or a token");
  std::optional<double> seconds = exec::parse_time(!options.run_timeout.empty()  ? options.run_timeout
                                                   : options.backend == "thread" ? "60s"
                                                                                 : "10s");
  if (!seconds || *seconds == 0)
    return wrong_use("replay", fmt::format("'{}' is no time; write 30s, 5m or 2h", options.run_timeout));
  options.run_seconds = *seconds;
  if (std::string error = resolve(options); !error.empty()) {
    say(error);
    return kExitWrongUse;
  }

  exec::WorkFolder work(fs::absolute(options.dir).lexically_normal().string());
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  if (options.expected.empty()) options.input = exec::keep_input(work.path() + "/stdin");
  if (options.gdb) return run_in_gdb(options, work.path());
  signal(SIGINT, note_interrupt);  // it reaches the program too: what it does then is still to be told
  return replay_all(options, work.path());
}

}  // namespace duress::cli
