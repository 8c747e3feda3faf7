// SPDX-License-Identifier: Apache-2.0
//
// `duress replay`: one execution again, as a token or a finding's id names it.
#include <fmt/format.h>
#include <sys/ioctl.h>

#include <cstdlib>
#include <cstring>

#include "cli/commands.h"
#include "cli/error_stream.h"
#include "cli/replay_gdb.h"
#include "cli/replay_options.h"
#include "cli/stop.h"
#include "exec/files.h"
#include "exec/oracle.h"
#include "exec/session.h"
#include "exec/single_run.h"
#include "exec/work_folder.h"
#include "exec/worker.h"
#include "report/failure_text.h"
#include "report/resolved_names.h"
#include "report/trace_text.h"
#include "report/words.h"

namespace duress::cli {
namespace {

constexpr std::size_t kMostTraced = 2000;  // steps; a page that nobody reads to its end helps nobody

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
      "diverged at choice {}: the recorded thread or value was not available there; the program, its input "
      "or something it reads (a file, the network) has changed",
      execution.record.diverged - 1));
}

/// What several replays of one token had in common.
struct Tally {
  u64 failed = 0, same = 0, equal = 0;
};

int replay_all(ReplayOptions& options, const std::string& folder) {
  exec::Oracle oracle(options.oracle, options.target[0]);
  exec::SingleRun single = single_run(options, folder);
  std::string error = oracle.load();
  if (error.empty()) error = single.prepare(options.plan);
  report::ResolvedNames names;
  report::FindingStyle style = options.finding_style();
  Tally tally;
  exec::Trail first_trail;
  std::string first_output, first_id = options.expected;
  for (u64 time = 0; time < options.times && error.empty() && !stop_asked; ++time) {
    exec::Result result = single.run(options.plan, oracle);
    if (!result.usable()) {
      error = worker_problem_text(options.target[0], result.why());
      break;
    }
    const exec::Execution* execution = &result.execution();
    finding::RunLogs& logs = result.logs();
    finding::Failure* failure = result.failure();
    if (failure != nullptr) {
      identify(*failure, logs, names);
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

    if (options.trace) print_trace(logs, names, options.verbose);
    print_divergence(*execution);
    if (!failure) {
      say(options.times == 1 ? "it did not fail this time" : "it did not fail the first time");
      continue;
    }
    std::vector<std::string> remarks{"with " + report::switches_text(execution->record.switches)};
    if (!options.expected.empty() && failure->id != options.expected)
      remarks.push_back("another failure than the recorded " + options.expected);
    write_errors(to_text(report::describe_failure(*failure, logs, names), options.target[0], remarks, style));
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
  if (std::optional<int> code = read_replay_options(arguments, options)) return *code;
  exec::WorkFolder work(options.absolute_dir());
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  if (options.expected.empty() && options.input.empty() && !options.for_gdb)
    options.input = exec::keep_input(work.path() + "/stdin");
  if (options.for_gdb) return serve_gdb(options, work.path());
  if (options.gdb) return replay_in_gdb(arguments, options);
  catch_signals();  // it reaches the program too; how that ends is still reported
  return replay_all(options, work.path());
}

}  // namespace duress::cli
