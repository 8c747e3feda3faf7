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
  for (const report::Json& race : report::list_at(document.json, "races")) {
    const report::Json& sites = report::list_at(race, "sites");
    std::size_t first = report::headline_of(race);
    std::string place;
    if (first < sites.size())
      place = fmt::format("{}:{}:{}: ", report::text_at(sites[first], "file"),
                          report::number_at(sites[first], "line"), report::number_at(sites[first], "column"));
    print_line(fmt::format("{}{}: {} [{}]", place, report::is_destructive(race) ? "error" : "warning",
                           report::title_of(race), report::text_at(race, "id")));
  }
  for (const report::Json& failure : report::list_at(document.json, "failures"))
    print_line(fmt::format("error: {} [{}]", report::title_of(failure), report::text_at(failure, "id")));
  report::Summary summary;
  summary.races = report::races_of(document).size();
  summary.pairs = report::list_at(document.json, "races").size();
  say(fmt::format("{}, {}, found by duress {}; --html FILE writes a report", report::races_text(summary),
                  report::count_text(report::list_at(document.json, "failures").size(), "failure"),
                  report::text_at(document.json, "command")));
}

}  // namespace

int report_command(const Arguments& arguments) {
  ReportRequest request;
  std::string from;
  bool no_replay = false;
  DirOptions folder;
  CommandApp app("report",
                 "Renders what the last campaign (classify, explore, verify, run) in a folder found.");
  request.files.add_to(app);
  app.add_option("--json", request.files[FormatId::kJson],
                 "Write the document with the interleavings; - is stdout");
  folder.add_dir(app, "Folder that holds the record");
  app.add_option("--from", from, "A document that --json wrote, instead of the last campaign");
  app.add_flag("--no-replay", no_replay, "Do not run the program again for the interleavings");
  app.footer(
      "Without any of them, the findings are listed. The executions that failed are run again for their\n"
      "interleavings, so the program must be as it was.\n\n"
      "0: written; 2: wrong use; 125: nothing is recorded, or a report cannot be written.\n\n"
      "  duress classify -- ./cache; duress report --html report.html\n"
      "  duress report --sarif races.sarif --junit races.xml");
  if (std::optional<int> code = app.read(arguments)) return *code;
  request.dir = folder.dir;
  if (std::string error = request.files.check(); !error.empty()) return wrong_use("report", error);
  request.replay = !no_replay;
  std::string error;
  std::optional<std::string> text;
  if (from.empty()) {
    text = exec::load_last(request.dir, error);
  } else {
    text = exec::read_file(from);
    if (!text) error = fmt::format("cannot read '{}': {}", from, std::strerror(errno));
  }
  std::optional<report::StoredDocument> document;
  if (text) {
    document = report::read_document(*text, error);
    if (!document) error = fmt::format("'{}' is {}", from.empty() ? request.dir + "/last.json" : from, error);
  }
  if (!document) {
    say(error);
    return from.empty() ? kExitToolFailed : kExitWrongUse;
  }
  if (!request.files.any()) {
    print_list(*document);
    return kExitOk;
  }
  return write_reports(request, std::move(*document));
}

}  // namespace duress::cli
