// SPDX-License-Identifier: Apache-2.0
#include "cli/tsan_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <regex>

#include "cli/command_app.h"
#include "exec/session.h"
#include "report/tsan_writer.h"

namespace duress::cli {
namespace {

/// The value of log_path in a list of options, with its quotes off; takes it out of the list.
std::string cut_log_path(std::string& options) {
  static const std::regex pattern("(^|[:\\s,])log_path=(\"[^\"]*\"|'[^']*'|[^:\\s]*)");
  std::smatch match;
  if (!std::regex_search(options, match, pattern)) return {};
  std::string value = match[2];
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'')) value = value.substr(1, value.size() - 2);
  options = match.prefix().str() + match.suffix().str();
  return value;
}

}  // namespace

std::string take_log_path() {
  std::string path;
  if (const char* given = std::getenv("DURESS_OPTIONS")) {
    std::string options = given;
    path = cut_log_path(options);
    if (!path.empty()) setenv("DURESS_OPTIONS", options.c_str(), 1);
  }
  const char* given = std::getenv("TSAN_OPTIONS");
  if (!path.empty() || given == nullptr) return path;
  std::string options = given;
  return cut_log_path(options);
}

void FormatOptions::add_format(CommandApp& app, const char* what) {
  app.add_option("--format", format,
                 fmt::format("text (default), or tsan: as ThreadSanitizer prints it{}; log_path=FILE in "
                             "DURESS_OPTIONS or TSAN_OPTIONS sends it to FILE.PID",
                             what))
      .one_of({"text", "tsan"});
}

bool FormatOptions::write_tsan(const report::Document& document, int fd) const {
  std::string text = report::to_tsan(document), error;
  if (log_path == "stderr") fd = STDERR_FILENO;
  if (log_path == "stdout") fd = STDOUT_FILENO;
  if (log_path.empty() || log_path == "stderr" || log_path == "stdout")
    error = exec::write_all(fd, text) ? "" : fmt::format("cannot write the report: {}", std::strerror(errno));
  else if (!text.empty())
    error = exec::write_document(fmt::format("{}.{}", log_path, getpid()), text);
  if (!error.empty()) say(error);
  return error.empty();
}

}  // namespace duress::cli
