// SPDX-License-Identifier: Apache-2.0
//
// `duress report`: what the last campaign found, for people, for code scanning, for CI.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "cli/command_app.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/report_files.h"
#include "exec/files.h"
#include "exec/last.h"
#include "exec/session.h"
#include "report/comparison.h"
#include "report/path.h"
#include "report/stored_document.h"
#include "report/summary.h"
#include "report/words.h"

namespace duress::cli {
namespace {

/// A line on stdout, with control characters made harmless.
void print_line(const std::string& text) {
  fmt::print("{}\n", report::printable(text));
}

/// With nothing asked for: a line for each finding, as a compiler would write it.
void print_list(const report::StoredDocument& document) {
  for (const char* list : {"races", "failures"}) {
    for (const report::Json& finding : report::list_at(document.json, list))
      print_line(report::finding_line(finding));
  }
  report::Summary summary;
  summary.races = report::races_of(document).size();
  summary.pairs = report::list_at(document.json, "races").size();
  say(fmt::format("{}, {}, found by duress {}; --html FILE writes a report", report::races_text(summary),
                  report::count_text(report::list_at(document.json, "failures").size(), "failure"),
                  report::text_at(document.json, "command")));
}

/// A document, and what messages call it.
struct Source {
  std::optional<report::StoredDocument> document;
  std::string name;
  int code = kExitOk;  // if there is none, which has been said
};

/// The document in `file`, or with "" the last campaign's in `dir`.
Source load(const std::string& file, const std::string& dir) {
  Source source;
  source.name = file.empty() ? dir + "/last.json" : file;
  std::string error;
  std::optional<std::string> text;
  if (file.empty()) {
    text = exec::load_last(dir, error);
  } else {
    text = exec::read_file(file);
    if (!text) error = fmt::format("cannot read '{}': {}", file, std::strerror(errno));
  }
  if (text) {
    source.document = report::read_document(*text, error);
    if (!source.document) error = fmt::format("'{}' is {}", source.name, error);
  }
  if (source.document) return source;
  say(error);
  source.code = file.empty() ? kExitToolFailed : kExitWrongUse;
  return source;
}

/// What changed since an older document: as text, as JSON, and in the page of the newer one.
int write_comparison(ReportRequest request, const Source& before, Source now) {
  report::Comparison comparison = report::compare(*before.document, *now.document);
  report::Json json =
      report::comparison_json(comparison, *before.document, before.name, *now.document, now.name);
  std::string& place = request.files[FormatId::kJson];
  if (!place.empty()) {
    std::string text = json.dump(1, ' ', false, report::Json::error_handler_t::replace) + "\n";
    if (std::string error = exec::write_document(place, text); !error.empty()) {
      say(error);
      return kExitToolFailed;
    }
    place.clear();
    if (!request.files.any()) return kExitOk;
  }
  if (!request.files.any()) {
    for (const std::string& line : report::comparison_lines(comparison)) print_line(line);
    for (const std::string& note : comparison.notes)
      say(report::printable("the campaigns differ in " + note));
    say(fmt::format("{}: {} and {}", report::comparison_summary(comparison), before.name, now.name));
    return kExitOk;
  }
  now.document->comparison = std::move(json);
  return write_reports(request, std::move(*now.document));
}

}  // namespace

int report_command(const Arguments& arguments) {
  ReportRequest request;
  std::string from, older;
  bool no_replay = false;
  DirOptions folder;
  CommandApp app("report",
                 "Renders what the last campaign (classify, explore, verify, run) in a folder found.");
  request.files.add_to(app);
  app.add_option("--json", request.files[FormatId::kJson],
                 "Write the document with the interleavings; - is stdout");
  folder.add_dir(app, "Folder that holds the record");
  app.add_option("DOCUMENT,--from", from, "A document that --json wrote, instead of the last campaign");
  app.add_option(
      "--compare", older,
      "An older document of --json: what is new, gone and changed since, as text, --json or --html");
  app.add_flag("--no-replay", no_replay, "Do not run the program again for the interleavings");
  app.footer(
      "Without any of them, the findings are listed. The executions that failed are run again for their\n"
      "interleavings, so the program must be as it was.\n\n"
      "0: written; 2: wrong use; 125: nothing is recorded, or a report cannot be written.\n\n"
      "  duress classify -- ./cache; duress report --html report.html\n"
      "  duress report --sarif races.sarif --junit races.xml\n"
      "  duress report --compare last-week.json");
  if (std::optional<int> code = app.read(arguments)) return *code;
  request.dir = folder.dir;
  if (std::string error = request.files.check(); !error.empty()) return wrong_use("report", error);
  if (!older.empty()) {
    for (u32 i = 0; i < kCatalogSize<FormatId>; ++i) {
      FormatId format = static_cast<FormatId>(i);
      if (format == FormatId::kHtml || format == FormatId::kJson || request.files[format].empty()) continue;
      return wrong_use("report", fmt::format("--compare goes with --html and --json, not with --{}",
                                             Catalog<FormatId>::kEntries[i].name));
    }
  }
  request.replay = !no_replay;
  Source now = load(from, request.dir);
  if (!now.document) return now.code;
  if (!older.empty()) {
    Source before = load(older, request.dir);
    return before.document ? write_comparison(std::move(request), before, std::move(now)) : before.code;
  }
  if (!request.files.any()) {
    print_list(*now.document);
    return kExitOk;
  }
  return write_reports(request, std::move(*now.document));
}

}  // namespace duress::cli
