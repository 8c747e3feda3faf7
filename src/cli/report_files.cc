// SPDX-License-Identifier: Apache-2.0
#include "cli/report_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/report_replay.h"
#include "exec/last.h"
#include "exec/session.h"
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

report::Document new_document(const char* command, std::int64_t seed,
                              const std::vector<std::string>& target) {
  report::Document document;
  document.command = command;
  document.version = DURESS_VERSION;
  document.seed = seed;
  document.target = target;
  std::error_code ignored;
  document.cwd = fs::current_path(ignored).string();
  return document;
}

int write_reports(const ReportRequest& request, report::StoredDocument document) {
  if (request.dir != ".duress") document.replay_options = " --dir " + report::shell_word(request.dir);
  std::error_code ignored;
  if (document.folder.empty()) document.folder = fs::current_path(ignored).string();
  const ReportFiles& files = request.files;
  // What only lists findings needs no executions; a code flow does.
  if (request.replay && !(files.html + files.sarif + files.perfetto + files.json).empty())
    add_lanes(document, request.dir);
  struct One {
    const std::string& where;
    std::string (*render)(const report::StoredDocument&);
  };
  for (const One& one : {One{files.html, report::to_html}, One{files.sarif, report::to_sarif},
                         One{files.junit, report::to_junit}, One{files.perfetto, report::to_perfetto},
                         One{files.json, report::to_json}}) {
    if (one.where.empty()) continue;
    std::string error = exec::write_document(one.where, one.render(document));
    if (error.empty()) continue;
    say(error);
    return kExitToolFailed;
  }
  return kExitOk;
}

bool finish_with_reports(const ReportFiles& files, const std::string& dir, report::Json document) {
  std::error_code ignored;
  document["folder"] = fs::current_path(ignored).string();
  // A record that cannot be kept is no reason to lose what was found.
  std::string text = document.dump(1, ' ', false, report::Json::error_handler_t::replace) + "\n";
  if (std::string error = exec::save_last(dir, text); !error.empty()) say(error);
  if (!files.any()) return true;
  ReportRequest request;
  request.files = files;
  request.dir = dir;
  return write_reports(request, report::stored_document(std::move(document))) == kExitOk;
}

}  // namespace duress::cli
