// SPDX-License-Identifier: Apache-2.0
//
// `duress run`: one execution of an instrumented program, then the report of every race it saw.
//
// The host knows nothing while the target runs: it hands over options in the environment, waits, and reads
// the logs that the target's processes left. That keeps the target's own streams, exit code and speed as
// they are, and a target that crashes or is killed still leaves what it had found.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <regex>

#include "catalog/heuristics.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/gate.h"
#include "cli/report_files.h"
#include "cli/run_options.h"
#include "cli/tsan_output.h"
#include "exec/child.h"
#include "exec/exchange.h"
#include "exec/launch.h"
#include "exec/target_start.h"
#include "finding/log_reader.h"
#include "report/document.h"
#include "report/json_writer.h"
#include "report/site_table.h"
#include "report/text_writer.h"
#include "report/tsan_writer.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

/// Makes a folder for this run's logs that no other run has.
std::optional<std::string> make_run_dir(const std::string& dir, std::string& error) {
  std::error_code code;
  bool fresh = !fs::exists(dir, code);
  fs::path runs = fs::absolute(fs::path(dir)).lexically_normal() / "runs";
  fs::create_directories(runs, code);
  if (code) {
    error = fmt::format("cannot make the folder '{}': {}; give another with --dir", runs.string(),
                        code.message());
    return std::nullopt;
  }
  if (fresh) {  // what we leave behind should not show up in version control
    if (std::FILE* file = std::fopen((dir + "/.gitignore").c_str(), "wx")) {
      std::fputs("*\n", file);
      std::fclose(file);
    }
  }
  std::time_t now = std::time(nullptr);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", std::localtime(&now));
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string path =
        fmt::format("{}/{}-{}{}", runs.string(), stamp, getpid(), attempt ? fmt::format("-{}", attempt) : "");
    if (mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) {
      error =
          fmt::format("cannot make the folder '{}': {}; give another with --dir", path, std::strerror(errno));
      return std::nullopt;
    }
  }
  error = fmt::format("cannot make a new folder below '{}'", runs.string());
  return std::nullopt;
}

/// The value of DURESS_OPTIONS: the user's own first, ours after it, so that ours win.
std::string runtime_options(const RunOptions& options, const std::string& log_dir) {
  const char* given = std::getenv("DURESS_OPTIONS");
  std::string text = given != nullptr && *given != '\0' ? std::string(given) + ":" : "";
  text += fmt::format("log_dir={}:chain={}:seed={}", log_dir, options.chain, options.seed);
  if (options.halt) text += ":halt=1";
  if (options.stats) text += ":stats=1";
  if (!options.volatile_order.empty()) text += ":volatile=" + options.volatile_order;
  if (options.model == "stale") {
    text += fmt::format(":model=stale:heuristic={}:tear={}:track={}", options.heuristic, options.tear,
                        fmt::join(options.only, ","));
  }
  return text;
}

/// One thread at a time, with equal chances, and every race looked for.
exec::Plan controlled_plan(const RunOptions& options) {
  exec::Plan plan;
  plan.head.seed = static_cast<u64>(options.seed);
  plan.head.strategy = StrategyId::kRandom;
  plan.head.detect = trail::Detect::kRaces;
  plan.head.model = options.model_number;
  plan.head.heuristic = options.heuristic_number.value_or(HeuristicId::kRandom);
  // Who waits for a plain variable must let others go on.
  plan.head.points = trail::Points::kLongRuns;
  return plan;
}

/// How a controlled execution ended, if not by itself; "" otherwise.
std::string stuck_text(trail::Outcome outcome) {
  switch (outcome) {
    case trail::Outcome::kDeadlock:
      return "deadlock: every thread waits for another";
    case trail::Outcome::kLivelock:
      return "livelock: all threads spin and nothing changes";
    case trail::Outcome::kStepLimit:
      return "the execution came to no end within ten million steps";
    case trail::Outcome::kStuck:
      return "a thread ran on without reaching a schedule point";
    default:
      return {};
  }
}

bool write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

/// Writes a document to `where` ("-": stdout). Says what went wrong and returns false if it cannot.
bool deliver(const std::string& where, const std::string& text) {
  int fd = where == "-" ? STDOUT_FILENO : open(where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = fd >= 0 && write_all(fd, text);
  int error = errno;
  if (fd >= 0 && fd != STDOUT_FILENO && close(fd) != 0 && good) {
    good = false;
    error = errno;
  }
  if (!good)
    say(fmt::format("cannot write '{}': {}", where == "-" ? "standard output" : where, std::strerror(error)));
  return good;
}

bool use_color(const std::string& when) {
  if (when == "always") return true;
  if (when == "never") return false;
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

void print_events(const finding::RunLog& log) {
  for (const finding::ProcessLog& process : log.processes) {
    for (const std::string& text : process.events) say_plain(text);
  }
}

/// Nothing that ran left a log: says why, as far as that can be known.
int explain_silence(const std::string& program, const exec::LaunchResult& result) {
  std::string path = exec::program_path(program);
  if (report::SiteTable::load(path).size() == 0) {
    say(fmt::format("{} is not instrumented; build it with duress-cc or duress-c++", program));
  } else if (result.exit_code() != kExitToolFailed) {  // else the runtime has said itself what it lacks
    say(fmt::format("{} is instrumented, but its runtime did not start; see duress doctor", program));
  }
  return kExitToolFailed;
}

/// Which of the races the baseline has.
void say_known(const report::Document& document, const RunOptions& options) {
  std::vector<std::string> ids;
  for (const report::RaceEntry& race : document.races) {
    if (race.baseline) ids.push_back(race.id);
  }
  if (!ids.empty() && !options.quiet) say(fmt::format("in the baseline: {}", fmt::join(ids, ", ")));
}

int execute(const RunOptions& options) {
  report::Suppressions suppressions;
  for (const std::string& file : options.suppressions) {
    if (std::string error = suppressions.load(file); !error.empty()) {
      bool located = error.rfind(file + ":", 0) == 0;
      if (located)
        say_plain(error);
      else
        say(error);
      return kExitWrongUse;
    }
  }
  std::string error;
  std::optional<std::string> log_dir = make_run_dir(options.dir, error);
  if (!log_dir) {
    say(error);
    return kExitToolFailed;
  }
  std::error_code ignored;
  if (std::regex_search(*log_dir, std::regex(":[a-z_]+="))) {  // would start another option
    fs::remove(*log_dir, ignored);
    say(fmt::format("DURESS_OPTIONS cannot carry the path '{}'; give another with --dir", *log_dir));
    return kExitWrongUse;
  }

  std::string words = runtime_options(options, *log_dir);
  std::unique_ptr<exec::Exchange> exchange;
  if (options.controlled) {
    exchange = exec::Exchange::make(*log_dir, error);
    if (!exchange || !exchange->put(controlled_plan(options))) {
      say(error);
      return kExitToolFailed;
    }
    words = exec::padded_options(fmt::format("{}:mode=controlled:request={}:record={}", words,
                                             exchange->request_path(), exchange->record_path()));
    // The same addresses in every run, where the system allows it; the target inherits it.
    personality(static_cast<unsigned long>(personality(0xffffffff)) | ADDR_NO_RANDOMIZE);
  }
  exec::LaunchResult result = exec::launch(options.target, {{"DURESS_OPTIONS", words}});
  if (result.start_error != 0) {
    fs::remove(*log_dir, ignored);
    say(fmt::format("cannot start '{}': {}", options.target[0], std::strerror(result.start_error)));
    return kExitToolFailed;
  }

  finding::RunLog log = finding::read_log_dir(*log_dir);
  if (log.processes.empty()) {
    for (const finding::LogProblem& problem : log.problems) {
      say(fmt::format("{}:{}: unreadable log line ({})", problem.file, problem.line, problem.what));
    }
    fs::remove_all(*log_dir, ignored);
    return explain_silence(options.target[0], result);
  }

  report::Document document = new_document("run", options.seed, options.target);
  document.checked = options.model != "stale";
  document.seconds = result.seconds;
  document.root_pid = result.pid;
  report::fill_document(log, suppressions, document);
  mark_known(document, options.known);

  print_events(log);
  report::TextStyle style;
  style.detail = options.quiet     ? report::Detail::kQuiet
                 : options.verbose ? report::Detail::kVerbose
                                   : report::Detail::kNormal;
  style.color = use_color(options.color);
  style.stats = options.stats;
  bool delivered = true;
  // With the document on stdout the text would only say it twice.
  if (options.format == "tsan") {
    if (std::string problem = write_tsan(report::to_tsan(document), options.log_path, STDERR_FILENO);
        !problem.empty()) {
      say(problem);
      delivered = false;
    }
  } else if (options.json != "-") {
    write_all(STDERR_FILENO, report::to_text(document, style));
    say_known(document, options);
  }
  if (!options.json.empty()) delivered = deliver(options.json, report::to_json(document)) && delivered;
  delivered = finish_with_reports(options.files, options.dir, report::json_of(document)) && delivered;
  if (!options.print_suppressions.empty()) {
    delivered = deliver(options.print_suppressions, report::to_suppressions(document)) && delivered;
  }

  if (result.signalled && document.crashes.empty() && !options.quiet) {
    const char* name = sigabbrev_np(result.code);
    say(fmt::format("the program was ended by {}",
                    name ? fmt::format("SIG{}", name) : fmt::format("signal {}", result.code)));
  }

  bool worth_keeping = !document.races.empty() || !document.crashes.empty() || !document.warnings.empty();
  if (!worth_keeping)
    fs::remove_all(*log_dir, ignored);
  else if (options.verbose)
    say("log: " + report_path(*log_dir));

  std::string stuck;
  if (exchange) {
    exec::Execution execution;
    exchange->take(execution);
    stuck = stuck_text(execution.record.outcome);
    if (!stuck.empty()) say(fmt::format("{}; duress explore --seed {} shows where", stuck, options.seed));
  }
  if (!delivered) return kExitToolFailed;
  if (!stuck.empty() && options.fail_on != "never") return kExitFindings;
  for (const report::RaceEntry& race : document.races) {
    if (fails(options.fail_on, options.known, {race.id, false})) return kExitFindings;
  }
  return result.exit_code();
}

}  // namespace

int run_command(const Arguments& arguments) {
  RunOptions options;
  if (std::optional<int> code = read_run_options(arguments, options)) return *code;
  return execute(options);
}

}  // namespace duress::cli
