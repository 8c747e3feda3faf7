// SPDX-License-Identifier: Apache-2.0
//
// `duress explore`: looks for a schedule that makes the program fail. The search is src/search's.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/campaign.h"
#include "cli/error_stream.h"
#include "cli/explore_options.h"
#include "cli/report_replay.h"
#include "cli/stop.h"
#include "report/campaign_text.h"
#include "report/discovery_text.h"
#include "report/failure_text.h"
#include "report/finding_json.h"
#include "report/json_writer.h"
#include "report/lanes_text.h"
#include "report/words.h"
#include "search/document.h"

namespace duress::cli {
namespace {

using report::plural;

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string progress_text(const search::Progress& progress) {
  double rate = progress.seconds > 0 ? static_cast<double>(progress.fresh_runs) / progress.seconds : 0;
  std::string text = fmt::format("{}, {}, {}", plural(progress.runs, "run"),
                                 report::rate_text(progress.fresh_runs, progress.seconds),
                                 plural(progress.failures, "failure"));
  if (*progress.phase != '\0') return text + ", " + progress.phase;
  double left = progress.most_seconds > 0 ? progress.most_seconds - progress.seconds : 1e9;
  if (progress.most_runs < kNoLimit && rate > 0)
    left = std::min(left, static_cast<double>(progress.most_runs - progress.runs) / rate);
  return left < 1e8 ? text + fmt::format(", {} left", duration_text(std::max(0.0, left))) : text;
}

/// What is shown while the search runs: progress, and each failure when it is found.
class Screen : public search::SearchListener {
 public:
  Screen(const ExploreOptions& options, Campaign& campaign)
      : options_(options), campaign_(campaign), style_(options.finding_style(options.dir)) {}

  void resumed(u64 run, const std::vector<std::string>& failures) override {
    std::string text = fmt::format("resuming at run {}", run + 1);
    if (!failures.empty()) text += fmt::format(", {} found before", fmt::join(failures, ", "));
    if (!options_.quiet && options_.prints()) say(text);
  }

  void progress(const search::Progress& progress) override {
    LiveLine& line = campaign_.line();
    if (line.due(progress.seconds)) line.show(progress_text(progress) + campaign_.workers_text());
    if (options_.lines->due(progress.seconds))
      options_.lines->progress({{"seconds", progress.seconds},
                                {"runs", progress.runs},
                                {"failures", progress.failures},
                                {"phase", *progress.phase == '\0' ? "searching" : progress.phase}});
  }

  void found(const search::Found& found) override {
    campaign_.line().clear();
    if (!options_.prints() && !options_.lines->on()) return;
    report::FailureEntry entry = search::failure_entry(found, false, campaign_.names());
    entry.baseline = options_.known.knows(entry.failure.id);
    options_.lines->failure(report::to_json(entry, campaign_.document().cwd));
    if (!options_.prints()) return;
    write_errors(to_text(entry, options_.target[0], discovery_remarks(entry, options_.seed, style_), style_));
  }

 private:
  const ExploreOptions& options_;
  Campaign& campaign_;
  report::FindingStyle style_;
};

/// The execution of each failure, a column per thread.
void print_lanes(const report::Document& document, const ExploreOptions& options) {
  constexpr std::size_t kMostFailures = 8, kMostRows = 12, kWidth = 78;
  if (!document.failures || document.failures->empty()) return;
  report::StoredDocument stored = report::stored_document(report::json_of(document));
  std::error_code ignored;
  stored.folder = std::filesystem::current_path(ignored).string();
  add_lanes(stored, options.setup.dir);
  for (std::size_t i = 0; i < document.failures->size() && i < kMostFailures; ++i) {
    const std::string& id = (*document.failures)[i].failure.id;
    const finding::Lanes* lanes = stored.lanes_for(id);
    std::string text = lanes == nullptr ? "" : report::lanes_text(*lanes, kWidth, kMostRows);
    if (!text.empty()) write_errors(fmt::format("interleaving of {}:\n{}", id, text));
  }
}

}  // namespace

int explore_command(const Arguments& arguments) {
  ExploreOptions options;
  if (std::optional<int> code = read_explore_options(arguments, options)) return *code;
  Campaign campaign("explore", options);
  if (std::optional<int> code = campaign.begin(arguments, options.setup)) return *code;
  Screen screen(options, campaign);
  search::SearchResult result = search::Search(options.setup, campaign.names(), screen).run(stop_asked);
  if (std::optional<int> code = campaign.end(result.problem)) return *code;
  report::Document document = campaign.document();
  search::fill_document(result, campaign.names(), document);
  mark_known(document, options.known);
  if (options.prints()) {
    if (!options.quiet) print_lanes(document, options);
    if (document.coverage && !options.quiet)
      write_errors(report::coverage_text(*document.coverage, document.cwd));
    for (const std::string& line : report::search_notes(document)) {
      if (!options.quiet) say(line);
    }
    say(report::search_summary(document));
  }
  return campaign.finish(document, /*races_count=*/false, result.out_of_time || result.interrupted);
}

}  // namespace duress::cli
