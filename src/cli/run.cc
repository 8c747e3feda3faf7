// SPDX-License-Identifier: Apache-2.0
//
// `duress run`: one execution of an instrumented program, then the report of every race it saw.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/run_options.h"
#include "cli/unseen.h"
#include "exec/oracle.h"
#include "exec/run_once.h"
#include "exec/session.h"
#include "report/document.h"
#include "report/text_writer.h"

namespace duress::cli {
namespace {

/// What the runtime is asked to do.
std::string runtime_options(const RunOptions& options) {
  std::string text = fmt::format("chain={}:seed={}", options.chain, options.seed);
  if (options.halt) text += ":halt=1";
  if (options.stats) text += ":stats=1";
  if (!options.exit_wait.empty()) text += fmt::format(":exit_wait={:.0f}", options.exit_wait_seconds * 1000);
  if (!options.volatile_order.empty()) text += ":volatile=" + options.volatile_order;
  if (options.model == "stale")
    text += fmt::format(":model=stale:heuristic={}:tear={}:track={}", options.heuristic, options.tear,
                        fmt::join(options.only, ","));
  return text;
}

exec::OneRunResult run_target(const RunOptions& options, const std::string& folder) {
  exec::OneRun run{options.target, folder, runtime_options(options), std::nullopt};
  if (options.controlled) {
    run.plan = exec::random_plan(static_cast<u64>(options.seed));
    run.plan->head.model = options.model_number;
    run.plan->head.heuristic = options.heuristic_number.value_or(HeuristicId::kRandom);
  }
  run.preload = preload_for(options.target[0]);
  exec::OneRunResult result = exec::run_once(run);
  if (!run.preload.empty()) drop_unwatched(result.log);
  return result;
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
      break;
  }
  const trail::Misuse* misuse = trail::misuse_of(outcome);
  return misuse ? fmt::format("{}: the program {}", misuse->word, misuse->text) : "";
}

/// What ended a program that a signal ended.
std::string ended_text(const exec::LaunchResult& result) {
  std::string text = "was ended by " + exec::signal_name(result.code);
  if (result.code == SIGSYS)
    text +=
        "; if it entered a sandbox (seccomp), permit what the runtime calls too: docs/manual/manual.md, "
        "section 7";
  return text;
}

/// Whether the runtime has ended the program because it lacks something; it has said what.
bool gave_up(const exec::OneRunResult& result) {
  if (result.signalled || result.code != kExitToolFailed) return false;
  return std::ranges::any_of(result.log.processes, [&](const finding::ProcessLog& process) {
    return process.pid == result.pid && !process.exit;
  });
}

/// Nothing that ran left a log: says why, as far as that can be known. The exit code.
int explain_silence(const std::string& program, const exec::LaunchResult& result) {
  std::string text = not_instrumented_text(program);
  if (text.empty() && result.signalled) {
    say(fmt::format("{} {}; nothing else is known", program, ended_text(result)));
    return result.exit_code();
  }
  if (!text.empty())
    say(text);
  else if (result.code != kExitToolFailed)  // else the runtime has said itself what it lacks
    say(fmt::format("{} is instrumented, but its runtime did not start; see duress doctor", program));
  return kExitToolFailed;
}

/// The findings as text. False: they could not be written, which has been said.
bool print(const RunOptions& options, const finding::RunLog& log, const report::Document& document) {
  for (const finding::ProcessLog& process : log.processes) {
    for (const std::string& text : process.events) say_plain(text);
  }
  if (options.tsan()) return options.write_tsan(document, STDERR_FILENO);
  if (!options.prints()) return true;
  exec::write_all(STDERR_FILENO, report::to_text(document, options.finding_style(), options.stats));
  std::vector<std::string> known;
  for (const report::RaceEntry& race : document.races) {
    if (race.baseline) known.push_back(race.id);
  }
  if (!known.empty() && !options.quiet) say(fmt::format("in the baseline: {}", fmt::join(known, ", ")));
  return true;
}

int run_in(const std::string& folder, const RunOptions& options, report::Suppressions& suppressions) {
  std::error_code ignored;
  options.lines->start("run", options.seed, options.target);
  exec::OneRunResult result = run_target(options, folder);
  if (!result.problem.empty()) {
    std::filesystem::remove_all(folder, ignored);
    say(result.problem);
    return kExitToolFailed;
  }
  const finding::RunLog& log = result.log;
  if (log.processes.empty() && result.damage.empty()) {
    std::filesystem::remove_all(folder, ignored);
    return explain_silence(options.target[0], result);
  }
  report::Document document = new_document("run", options.seed, options.target);
  document.checked = options.model != "stale";
  document.seconds = result.seconds;
  document.root_pid = result.pid;
  report::fill_document(log, suppressions, document);
  mark_unseen(options.target[0], document);
  if (!result.damage.empty()) {
    if (document.races.empty() && document.crashes.empty()) {  // nothing can be said
      say(result.damage);
      return kExitToolFailed;
    }
    document.incomplete.push_back(result.damage);
  }
  if (gave_up(result) && document.races.empty() && document.crashes.empty()) {
    std::filesystem::remove_all(folder, ignored);
    return kExitToolFailed;
  }
  mark_known(document, options.known);
  bool written = print(options, log, document);
  written = options.write(document, options.dir) && written;
  written = options.write_suppressions(document) && written;
  if (result.signalled && document.crashes.empty() && !options.quiet)
    say("the program " + ended_text(result));
  if (document.races.empty() && document.crashes.empty() && document.warnings.empty())
    std::filesystem::remove_all(folder, ignored);
  else if (options.verbose)
    say("log: " + report_path(folder));
  std::string stuck = stuck_text(result.outcome);
  if (!stuck.empty()) say(fmt::format("{}; duress explore --seed {} shows where", stuck, options.seed));
  if (!written) return kExitToolFailed;
  if (!stuck.empty() && options.fail_on != "never") return options.findings_code;
  return fails(options.fail_on, options.known, document) ? options.findings_code : result.exit_code();
}

}  // namespace

int run_command(const Arguments& arguments) {
  RunOptions options;
  if (std::optional<int> code = read_run_options(arguments, options)) return *code;
  report::Suppressions suppressions;
  if (std::optional<int> code = options.load_suppressions(suppressions)) return *code;
  std::string error;
  if (std::optional<std::string> folder = exec::make_run_folder(options.dir, error))
    return run_in(*folder, options, suppressions);
  say(error);
  return kExitToolFailed;
}

}  // namespace duress::cli
