// SPDX-License-Identifier: Apache-2.0
//
// What `duress test` shows while cases are classified, and what it makes of their results.
#include "cli/test_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/error_stream.h"
#include "cli/live_line.h"
#include "cli/stop.h"
#include "exec/session.h"
#include "report/coverage_json.h"
#include "report/words.h"
#include "search/kept_coverage.h"
#include "suite/cases.h"
#include "suite/document.h"

namespace duress::cli {
namespace {

using report::count_text;

std::string progress_text(const suite::Progress& progress, std::size_t races, std::size_t destructive) {
  std::string text = fmt::format("{} of {}, {}, {} destructive", progress.done,
                                 count_text(progress.all, "case"), count_text(races, "race"), destructive);
  if (progress.left >= 1) text += fmt::format(", about {:.0f} s left", progress.left);
  if (!progress.name.empty()) text += ", in " + progress.name;
  return text;
}

class Session {
 public:
  Session(TestOptions& options, std::vector<suite::CaseResult> cases)
      : options_(options),
        text_(options.prints()),
        line_(options.quiet || !text_),
        campaign_(options.setup, std::move(cases)) {}

  int run() {
    if (std::string error = campaign_.open(); !error.empty()) {
      say(error);
      return kExitToolFailed;
    }
    if (campaign_.resumed() != 0 && text_ && !options_.quiet)
      say(fmt::format("going on after {}", count_text(campaign_.resumed(), "finished case")));
    options_.lines->start("test", options_.seed, {options_.selection.build_dir});
    campaign_.run(
        stop_asked,
        [this](const suite::Progress& progress) {
          if (line_.due(progress.seconds)) line_.show(progress_text(progress, races_, destructive_));
          if (options_.lines->due(progress.seconds)) options_.lines->progress(figures(progress));
        },
        [this](const suite::CaseResult& result) { ended(result); });
    line_.clear();
    suite::SuiteDocument document = suite::merge_documents(
        {options_.seed, options_.selection.build_dir, campaign_.seconds()}, campaign_.cases());
    if (document.coverage) finish_coverage(document);
    bool written = finish_with_reports(options_.files, options_.setup.dir, document.json);
    if (text_) print_summary(document);
    if (!options_.write_json(document.json)) return kExitToolFailed;
    return written ? exit_code(document) : kExitToolFailed;
  }

 private:
  void ended(const suite::CaseResult& result) {
    line_.clear();
    stream(result);
    if (text_) {
      fmt::print("{}", result.text);
      std::fflush(stdout);
      if (!result.why.empty() && !options_.quiet)
        say(fmt::format("{}: {}: {}", result.test_case.name, suite::name_of(result.outcome), result.why));
    }
    report::Summary one = suite::summary_of(result);
    races_ += one.races;
    destructive_ += one.count(finding::VerdictKind::kDestructive);
  }

  report::Json figures(const suite::Progress& progress) const {
    return {{"seconds", progress.seconds},
            {"cases", progress.done},
            {"all_cases", progress.all},
            {"races", races_},
            {"destructive", destructive_}};
  }

  /// The case, and its races as its own document has them.
  void stream(const suite::CaseResult& result) {
    if (!options_.lines->on()) return;
    report::Json one = {{"name", result.test_case.name}, {"outcome", suite::name_of(result.outcome)}};
    if (!result.why.empty()) one["why"] = result.why;
    for (const report::Json& race : report::list_at(result.document, "races")) options_.lines->race(race);
    options_.lines->test_case(std::move(one));
  }

  std::size_t ran() const {
    const std::vector<suite::CaseResult>& cases = campaign_.cases();
    return static_cast<std::size_t>(std::count_if(
        cases.begin(), cases.end(), [](const suite::CaseResult& one) { return !one.document.is_null(); }));
  }

  /// Cases that did not run prove nothing.
  std::string nothing_found_text() const {
    if (ran() == campaign_.cases().size()) return "no race";
    return ran() == 0 ? "no case was run" : fmt::format("no race in {} that ran", count_text(ran(), "case"));
  }

  /// What is new since the last campaign of the same tests; one that was cut off is not kept.
  void finish_coverage(suite::SuiteDocument& document) {
    const suite::CtestSelection& tests = options_.selection;
    std::string program = "test\2" + std::filesystem::absolute(tests.build_dir).lexically_normal().string();
    for (const std::string& part : {tests.include, tests.exclude, tests.label, tests.configuration})
      program += '\2' + part;
    if (!stop_asked && !campaign_.out_of_time()) {
      std::string error = search::compare_with_last(options_.setup.dir, program, *document.coverage);
      if (!error.empty()) say(error);
    }
    document.json["coverage"] = report::json_of(*document.coverage);
    if (text_ && !options_.quiet)
      write_errors(report::coverage_text(*document.coverage, std::filesystem::current_path().string()));
  }

  void print_summary(const suite::SuiteDocument& document) {
    std::set<std::string> racy;
    for (const suite::ChargedRace& race : document.races) racy.insert(race.test);
    std::string text =
        document.races.empty()
            ? nothing_found_text()
            : fmt::format("{} in {}, {}", report::races_text(document.summary),
                          count_text(racy.size(), "case"), report::verdict_counts_text(document.summary));
    text += fmt::format("; {}{}, in {}, seed {}", count_text(campaign_.cases().size(), "case"),
                        suite::outcomes_text(campaign_.cases()), count_text(document.summary.runs, "run"),
                        options_.seed);
    if (stop_asked) text += "; interrupted, the same command goes on";
    if (campaign_.out_of_time()) text += "; out of time, the same command goes on";
    say(text);
  }

  int exit_code(const suite::SuiteDocument& document) {
    for (const suite::ChargedRace& race : document.races) {
      if (fails(options_.fail_on, options_.known, {race.id, race.verdict == "destructive"}))
        return kExitFindings;
    }
    const std::vector<suite::CaseResult>& cases = campaign_.cases();
    if (std::any_of(cases.begin(), cases.end(),
                    [](const suite::CaseResult& one) { return one.outcome == suite::CaseOutcome::kError; }))
      return kExitToolFailed;
    if (stop_asked || campaign_.out_of_time()) return kExitOutOfTime;
    if (ran() != 0) return kExitOk;
    say(
        fmt::format("no test of '{}' could be classified; build it with CC=duress-cc CXX=duress-c++ or "
                    "-DCMAKE_TOOLCHAIN_FILE=$(duress cmake)",
                    options_.selection.build_dir));
    return kExitToolFailed;
  }

  TestOptions& options_;
  const bool text_;
  LiveLine line_;
  suite::Campaign campaign_;
  std::size_t races_ = 0, destructive_ = 0;  // so far
};

}  // namespace

int run_test_session(TestOptions& options, std::vector<suite::CaseResult> cases) {
  return Session(options, std::move(cases)).run();
}

}  // namespace duress::cli
