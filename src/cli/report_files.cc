// SPDX-License-Identifier: Apache-2.0
#include "cli/report_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/command_app.h"
#include "cli/commands.h"
#include "cli/option_error.h"
#include "cli/report_replay.h"
#include "exec/last.h"
#include "exec/session.h"
#include "report/formats.h"

namespace duress::cli {

namespace fs = std::filesystem;

bool ReportFiles::any() const {
  return std::any_of(places.begin(), places.end(), [](const std::string& place) { return !place.empty(); });
}

void ReportFiles::add_to(CommandApp& app) {
  for (u32 i = 0; i < places.size(); ++i) {
    if (static_cast<FormatId>(i) == FormatId::kJson) continue;
    const CatalogEntry& format = Catalog<FormatId>::kEntries[i];
    app.add_option(fmt::format("--{}", format.name), places[i], fmt::format("Write {}", format.description));
  }
  app.add_option(
      "--editor", editor,
      "What the links of a page open: vscode (default), clion, none, or a link with {file} and {line}");
}

std::string ReportFiles::check() const {
  for (u32 i = 0; i < places.size(); ++i) {
    if (std::string error = exec::check_document(places[i]); !error.empty())
      return option_error(fmt::format("--{}", Catalog<FormatId>::kEntries[i].name), error);
  }
  std::string error;
  editor_link(editor, error);
  return error;
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
  std::string wrong;  // it was checked before the work
  document.editor = editor_link(request.files.editor, wrong);
  const auto& places = request.files.places;
  bool interleavings = false;
  for (u32 i = 0; i < places.size(); ++i)
    interleavings |= !places[i].empty() && report::format_of(static_cast<FormatId>(i)).interleavings;
  if (request.replay && interleavings) add_lanes(document, request.dir);
  for (u32 i = 0; i < places.size(); ++i) {
    if (places[i].empty()) continue;
    std::string error =
        exec::write_document(places[i], report::format_of(static_cast<FormatId>(i)).render(document));
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
