// SPDX-License-Identifier: Apache-2.0
//
// `duress classify`: for every race the question that matters: is it destructive? The work is src/classify's.
#include "classify/classify.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "catalog/lookup.h"
#include "classify/document.h"
#include "cli/campaign.h"
#include "cli/classify_options.h"
#include "cli/error_stream.h"
#include "cli/stop.h"
#include "exec/child.h"
#include "repair/advice.h"
#include "report/campaign_text.h"
#include "report/coverage.h"
#include "report/finding_json.h"
#include "report/stored_document.h"
#include "report/verdict_text.h"
#include "report/words.h"

namespace duress::cli {
namespace {

using classify::Classifier;
using report::count_text;

std::string progress_text(const classify::ClassifyProgress& progress) {
  std::string text = count_text(progress.runs, "run");
  if (progress.seconds > 0) text += ", " + report::rate_text(progress.runs, progress.seconds);
  if (progress.variables != 0)
    text += fmt::format(", {}, {} destructive", count_text(progress.variables, "racing variable"),
                        progress.destructive);
  if (progress.failing != 0) text += fmt::format(", {} failing", progress.failing);
  text += fmt::format(", {}", progress.phase);
  if (progress.left > 0) text += fmt::format(", {:.0f} s left", progress.left);
  return text;
}

report::Json figures(const classify::ClassifyProgress& progress) {
  return {{"seconds", progress.seconds},         {"runs", progress.runs},
          {"races", progress.variables},         {"failing", progress.failing},
          {"destructive", progress.destructive}, {"phase", progress.phase}};
}

/// `--only` matches nothing: what there is, the nearest first.
int say_nothing_matches(const std::string& only, std::vector<std::string> known) {
  std::string hint = catalog::nearest_hint(only, known);
  if (known.size() > 12) known.resize(12);
  say(fmt::format("no race on '{}'{} (racing: {})", only, hint, fmt::join(known, ", ")));
  return kExitWrongUse;
}

void say_always_fails(const ClassifyOptions& options, const classify::FoundRaces& races) {
  say(
      fmt::format("{} fails in all {} ordinary schedules: {}; races are not judged, duress explore -- {} "
                  "shows the failure",
                  options.target[0], races.runs, races.failure.text, report::shell_line(options.target)));
}

/// Finds and judges races. An exit code if that is all, after a message.
std::optional<int> find_and_judge(const ClassifyOptions& options, Campaign& campaign, Classifier& classifier,
                                  report::Suppressions& suppressions, report::Document& document) {
  std::string error = classifier.open();
  if (!error.empty()) return campaign.end({exec::WorkerProblem::Kind::kTool, error});
  if (classifier.resumed() != 0 && options.prints() && !options.quiet)
    say(fmt::format("going on after {}", count_text(classifier.resumed(), "recorded run")));
  bool found = classifier.find();
  if (classifier.problem().kind != exec::WorkerProblem::Kind::kNone) return std::nullopt;
  std::vector<std::string> racing = classify::fill_document(classifier, options.only, suppressions, document);
  if (!found) return std::nullopt;
  if (document.races.empty() && !racing.empty() && !options.allow_none) {
    campaign.end({});
    return say_nothing_matches(options.only, racing);
  }
  for (const report::RaceEntry& race : document.races)
    options.lines->race(report::to_json(race, document.cwd));  // not judged yet
  classifier.classify();
  const classify::FoundRaces& races = classifier.found();
  if (!races.always_fails()) return std::nullopt;
  document.fails = races.failure.text;
  campaign.line().clear();
  say_always_fails(options, races);
  return std::nullopt;
}

/// Whether a fix is worth looking for. Unless it is asked for, only for harm, and within the time.
bool wants_fix(const ClassifyOptions& options, const report::Document& document) {
  if (document.races.empty() || !document.fails.empty() || stop_asked) return false;
  if (options.advice) return *options.advice;
  return !document.campaign->out_of_time &&
         std::any_of(document.races.begin(), document.races.end(), [](const report::RaceEntry& race) {
           return race.judgement && race.judgement->destructive();
         });
}

void print(const ClassifyOptions& options, const report::Document& document) {
  fmt::print("{}", report::verdicts_text(document, options.finding_style(options.dir, STDOUT_FILENO)));
  if (options.stats) fmt::print("{}", report::figures_text(document));
  std::fflush(stdout);
  if (document.coverage && !options.quiet)
    write_errors(report::coverage_text(*document.coverage, document.cwd));
  for (const std::string& line : report::verdict_notes(document)) {
    if (!options.quiet) say(line);
  }
  say(report::verdict_summary(document, options.verbose));
}

}  // namespace

int classify_command(const Arguments& arguments) {
  ClassifyOptions options;
  if (std::optional<int> code = read_classify_options(arguments, options)) return *code;
  report::Suppressions suppressions;
  if (std::optional<int> code = options.load_suppressions(suppressions)) return *code;
  Campaign campaign("classify", options);
  if (std::optional<int> code = campaign.begin(arguments, options.setup)) return *code;
  options.setup.record_dir = campaign.record_dir();
  options.setup.binary = exec::program_path(options.target[0]);
  Classifier classifier(options.setup, campaign.names(), stop_asked,
                        [&](const classify::ClassifyProgress& progress) {
                          LiveLine& line = campaign.line();
                          if (line.due(progress.seconds))
                            line.show(progress_text(progress) + campaign.workers_text());
                          if (options.lines->due(progress.seconds))
                            options.lines->progress(figures(progress));
                        });
  report::Document document = campaign.document();
  if (auto code = find_and_judge(options, campaign, classifier, suppressions, document)) return *code;
  const exec::WorkerProblem& problem = classifier.problem();
  campaign.line().clear();
  if (problem.kind == exec::WorkerProblem::Kind::kNone) {
    std::string error = classify::add_verdicts(classifier, document);
    if (!error.empty()) say(error);
    document.campaign->interrupted = stop_asked;
    for (report::RaceEntry& race : document.races) {
      race.test = options.test;
      if (!options.stats) race.judgement->figures.reset();
    }
    mark_known(document, options.known);
    repair::add_known_fixes(options.setup.dir, document);
    if (wants_fix(options, document)) {
      error = repair::find_fix(options.setup, options.setup.seed, options.advice.has_value(),
                               campaign.names(), stop_asked, document);
      if (!error.empty()) say(error);
    }
  }
  if (std::optional<int> code = campaign.end(problem)) return *code;
  if (options.tsan()) {
    document.root_pid = getpid();
    if (!options.write_tsan(document, STDOUT_FILENO)) return kExitToolFailed;
  } else if (options.prints()) {
    print(options, document);
  }
  return campaign.finish(document, /*races_count=*/true, stop_asked || document.campaign->out_of_time);
}

}  // namespace duress::cli
