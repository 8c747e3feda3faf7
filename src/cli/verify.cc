// SPDX-License-Identifier: Apache-2.0
//
// `duress verify`: every interleaving of a program up to equivalence. Either no race and no failure in any of
// them, which is a proof for this program and this input, or an interleaving that shows one.
#include <fmt/format.h>

#include <cstdio>

#include "catalog/lookup.h"
#include "cli/campaign.h"
#include "cli/command_app.h"
#include "cli/stop.h"
#include "repair/advice.h"
#include "repair/weaken.h"
#include "report/finding_json.h"
#include "report/json_writer.h"
#include "report/verification_text.h"
#include "report/words.h"
#include "search/document.h"
#include "verify/document.h"

namespace duress::cli {
namespace {

using verify::VerifyResult;
using verify::VerifySetup;

struct VerifyOptions : CampaignOptions {
  VerifySetup setup;
  std::string model = "sc", order = "run-on", equivalence = "trace";
  bool no_advice = false, weaken = false;
};

/// Translates the words of the command line into the setup; "" or what is wrong.
std::string check(VerifyOptions& options) {
  VerifySetup& setup = options.setup;
  if (std::string error = options.check_campaign(setup); !error.empty()) return error;
  setup.seed = static_cast<u64>(options.seed);
  setup.order = *id_of<ExplorationOrder>(options.order.c_str());
  if (options.weaken && options.model != "rc11") return "--weaken needs --model rc11";
  setup.profile_atomics = options.weaken;
  if (setup.symmetry && setup.preemptions >= 0) return "--symmetry cannot be combined with --preemptions";
  setup.reads_from = options.equivalence == "rf";
  if (setup.reads_from && setup.symmetry) return "--equivalence rf cannot be combined with --symmetry";
  if (setup.reads_from && setup.preemptions >= 0)
    return "--equivalence rf cannot be combined with --preemptions";
  if (options.model == "sc") return {};
  setup.model = ModelId::kRc11;
  if (setup.preemptions >= 0) return "--preemptions is for --model sc";
  if (setup.reads_from) return "--equivalence is for --model sc";
  if (options.order != "run-on") return "--order is for --model sc";
  if (setup.symmetry) return "--symmetry is for --model sc";
  if (setup.spurious != 0) return "--spurious is for --model sc";
  return setup.timeouts != 0 ? "--timeouts is for --model sc" : "";
}

void add_exploration(CommandApp& app, VerifyOptions& options) {
  VerifySetup& setup = options.setup;
  app.add_option("--preemptions", setup.preemptions, "At most N preemptions per interleaving")
      .value_name("N")
      .at_least(0);
  app.add_option("--model", options.model,
                 "The memory model: sc (default), or rc11: also what relaxed, acquire and release allow")
      .one_of({"sc", "rc11"});
  app.add_option(
         "--spurious", setup.spurious,
         "Waits on conditions may end with no signal: at most N times (default 1) in a row of a thread at a "
         "place, until it is signalled")
      .value_name("N")
      .at_least(1);
  app.add_option("--timeouts", setup.timeouts,
                 "Timeouts may come before anything else happens, with the same bound; otherwise they come "
                 "only when nothing else can happen")
      .value_name("N")
      .at_least(1);
  for (const char* option : {"--spurious", "--timeouts"}) app.allow_bare(option, "1", true);
  app.add_option(
         "--order", options.order,
         "Which interleavings come first: run-on (default), writes-first, watch-written, avoid-release, "
         "acquire-first")
      .one_of(catalog::names<ExplorationOrder>());
  app.add_flag(
      "--symmetry", setup.symmetry,
      "Threads that are created one after the other with the same function and argument can be exchanged: "
      "of executions that differ only so, one is explored");
  app.add_option("--equivalence", options.equivalence,
                 "Which interleavings are one: trace (default), those in which conflicting steps come in the "
                 "same order; rf, those in which all reads read the same write")
      .one_of({"trace", "rf"});
  app.add_flag("--weaken", options.weaken,
               "With --model rc11: which memory orders are needed; each is weakened, one at a time");
  app.add_flag("--no-advice", options.no_advice, "Do not look for a change that fixes the races");
}

/// An exit code if that is all: help was asked for, or a message was printed.
std::optional<int> read_verify_options(const Arguments& arguments, VerifyOptions& options) {
  CommandApp app("verify",
                 "Looks at every interleaving of a program, up to equivalence, for races and failures.");
  add_exploration(app, options);
  options.add_campaign(app, options.setup, options.setup.most_executions,
                       {.budget = {.runs = "Stop after this many executions"},
                        .fail_on = "race",
                        .fail_on_help = "race (default), destructive or new-destructive (failures, not races "
                                        "alone), never: what makes the exit code 66",
                        .quiet = "Only the first line of each finding",
                        .verbose = "All frames of all stacks"});
  app.footer(
      "0: nothing found; 66: a race or a failure; 124: out of time with nothing found; 2: wrong use; 125:\n"
      "the program could not be started, or it is not instrumented.\n\n"
      "  duress verify -- ./lock_test\n"
      "  duress verify --preemptions 2 --time 5m -- ./queue_test\n"
      "  duress verify --spurious --timeouts -- ./queue_test\n"
      "  duress verify --model rc11 --weaken -- ./lock_test");
  if (std::optional<int> code = app.read_with_target(arguments, options.target)) return code;
  return app.reject(check(options));
}

/// Which memory orders are needed; each is printed as soon as it is known.
std::vector<report::OrderEntry> find_orders(const VerifyOptions& options, const VerifyResult& result,
                                            finding::Names& names) {
  if (!result.complete || !result.racy.empty() || !result.found.empty()) {
    say("no order is weakened: the program as it is must be proved first");
    return {};
  }
  return repair::weaken(options.setup, result, names, stop_asked, [&](const report::OrderEntry& one) {
    if (options.prints()) fmt::print("{}", report::order_text(one, options.finding_style(options.dir)));
    fflush(stdout);
  });
}

/// Whether a change could help. Under rc11 a failure, too, may be there only because an order is too weak.
bool wants_fix(const VerifyOptions& options, const VerifyResult& result) {
  if (options.no_advice || result.interrupted || result.out_of_time) return false;
  return !result.racy.empty() || (options.setup.model != ModelId::kSc && !result.found.empty());
}

/// Findings while others are looked for.
verify::Verifier::Listener stream_to(JsonLines& lines, const std::string& cwd, finding::Names& names) {
  auto race = [&lines, cwd](const verify::RacyExecution& racy) {
    report::Suppressions none;
    finding::RunLog log;
    log.processes = {racy.log};
    report::Document one;
    one.cwd = cwd;
    report::fill_document(log, none, one);
    for (report::RaceEntry& entry : one.races) {
      entry.pid = 0;  // which process it was is chance
      lines.race(report::to_json(entry, one.cwd));
    }
  };
  auto failure = [&lines, cwd, &names](const search::Found& found, const std::string& id) {
    report::FailureEntry entry = search::failure_entry(found, /*counted=*/true, names);
    entry.failure.id = id;
    lines.failure(report::to_json(entry, cwd));
  };
  return {race, failure};
}

/// What is known before fixes are looked for.
void stream_findings(const report::Document& document, JsonLines& lines) {
  if (!lines.on()) return;
  const report::Json json = report::json_of(document);
  for (const report::Json& race : report::list_at(json, "races")) lines.race(race);
  for (const report::Json& failure : report::list_at(json, "failures")) lines.failure(failure);
}

std::string progress_text(const verify::VerifyProgress& progress) {
  const exhaustive::Estimate estimate = progress.estimate();
  std::string text =
      fmt::format("{} of {}, {:.0f}/s", report::count_text(progress.interleavings, "interleaving"),
                  report::estimate_text({estimate.executions, estimate.low, estimate.high}),
                  static_cast<double>(progress.interleavings) / progress.seconds);
  if (progress.races != 0) text += ", " + report::count_text(progress.races, "race");
  if (progress.failures != 0) text += ", " + report::count_text(progress.failures, "failure");
  return text;
}

}  // namespace

int verify_command(const Arguments& arguments) {
  VerifyOptions options;
  if (std::optional<int> code = read_verify_options(arguments, options)) return *code;
  Campaign campaign("verify", options);
  if (std::optional<int> code = campaign.begin(arguments, options.setup)) return *code;
  LiveLine& line = campaign.line();
  auto show = [&](const verify::VerifyProgress& progress) {
    if (options.lines->due(progress.seconds))
      options.lines->progress({{"seconds", progress.seconds},
                               {"interleavings", progress.interleavings},
                               {"races", progress.races},
                               {"failures", progress.failures}});
    if (line.due(progress.seconds)) line.show(progress_text(progress) + campaign.workers_text());
  };
  verify::Verifier verifier(options.setup, campaign.names(), show);
  if (options.lines->on())
    verifier.listen(stream_to(*options.lines, campaign.document().cwd, campaign.names()));
  VerifyResult result = verifier.run(stop_asked);
  line.clear();
  report::Document document = campaign.document();
  if (result.problem.kind == exec::WorkerProblem::Kind::kNone) {
    verify::fill_document(options.setup, result, campaign.names(), document);
    stream_findings(document, *options.lines);  // a fix may take longer than they did
    if (options.weaken) document.verification->orders = find_orders(options, result, campaign.names());
    if (wants_fix(options, result)) {
      std::string error =
          repair::add_fix(options.setup, result, /*may_build=*/true, campaign.names(), stop_asked, document);
      if (!error.empty()) say(error);
    }
  }
  if (std::optional<int> code = campaign.end(result.problem)) return *code;
  mark_known(document, options.known);
  if (options.prints()) {
    fmt::print("{}", report::verification_text(document, options.finding_style(options.dir)));
    std::fflush(stdout);  // the summary is last, wherever both go
    for (const std::string& text : report::verification_summary(document)) say(text);
  }
  return campaign.finish(document, /*races_count=*/true, result.out_of_time || result.interrupted);
}

}  // namespace duress::cli
