// SPDX-License-Identifier: Apache-2.0
#include "cli/report_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/report_replay.h"
#include "exec/last.h"
#include "exec/session.h"
#include "report/document.h"
#include "report/html_writer.h"
#include "report/junit_writer.h"
#include "report/perfetto_writer.h"
#include "report/sarif_writer.h"

namespace duress::cli {

namespace fs = std::filesystem;

void ReportFiles::add_to(CLI::App& app) {
  app.add_option("--html", html, "Write a report for people: one page that needs nothing else");
  app.add_option("--sarif", sarif, "Write SARIF 2.1.0, for code scanning");
  app.add_option("--junit", junit, "Write JUnit XML, a test case for each finding");
  app.add_option("--perfetto", perfetto, "Write the interleavings for ui.perfetto.dev");
}

std::string ReportFiles::check() const {
  for (const std::string& where : {html, sarif, junit, perfetto, json}) {
    if (std::string error = exec::check_document(where); !error.empty()) return error;
  }
  return {};
}

int write_reports(const ReportRequest& request, const std::string& text) {
  std::string error;
  std::optional<report::Document> document = report::read_document(text, error);
  if (!document) {
    say(error);
    return kExitToolFailed;
  }
  if (request.dir != ".duress") document->replay_options = " --dir " + report::shell_word(request.dir);
  std::error_code ignored;
  if (document->folder.empty()) document->folder = fs::current_path(ignored).string();
  const ReportFiles& files = request.files;
  // What only lists findings needs no executions; a code flow does.
  if (request.replay && !(files.html + files.sarif + files.perfetto + files.json).empty())
    add_lanes(*document, request.dir);
  struct One {
    const std::string& where;
    std::string (*render)(const report::Document&);
  };
  for (const One& one : {One{files.html, report::to_html}, One{files.sarif, report::to_sarif},
                         One{files.junit, report::to_junit}, One{files.perfetto, report::to_perfetto},
                         One{files.json, report::to_json}}) {
    if (one.where.empty()) continue;
    error = exec::write_document(one.where, one.render(*document));
    if (error.empty()) continue;
    say(error);
    return kExitToolFailed;
  }
  return kExitOk;
}

bool finish_with_reports(const ReportFiles& files, const std::string& dir, const std::string& document,
                         const std::map<std::string, std::string>& replays) {
  // A record that cannot be kept is no reason to lose what was found.
  if (std::string error = exec::save_last(dir, document, replays); !error.empty()) say(error);
  if (!files.any()) return true;
  std::string error;
  std::optional<std::string> kept = exec::load_last(dir, error);
  ReportRequest request;
  request.files = files;
  request.dir = dir;
  return write_reports(request, kept.value_or(document)) == kExitOk;
}

}  // namespace duress::cli
