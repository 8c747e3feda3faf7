// SPDX-License-Identifier: Apache-2.0
#include "cli/tsan_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <regex>

#include "exec/session.h"

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
  if (path.empty()) {
    if (const char* given = std::getenv("TSAN_OPTIONS")) {
      std::string options = given;
      path = cut_log_path(options);
    }
  }
  return path;
}

std::string write_tsan(const std::string& text, const std::string& log_path, int fd) {
  if (!log_path.empty() && log_path != "stderr" && log_path != "stdout")
    return text.empty() ? "" : exec::write_document(fmt::format("{}.{}", log_path, getpid()), text);
  if (log_path == "stderr") fd = STDERR_FILENO;
  if (log_path == "stdout") fd = STDOUT_FILENO;
  std::size_t done = 0;
  while (done < text.size()) {
    ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fmt::format("cannot write the report: {}", std::strerror(errno));
    done += static_cast<std::size_t>(written);
  }
  return {};
}

}  // namespace duress::cli
