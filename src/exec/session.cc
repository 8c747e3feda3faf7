// SPDX-License-Identifier: Apache-2.0
#include "exec/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "exec/files.h"

namespace duress::exec {

namespace fs = std::filesystem;

std::string keep_input(const std::string& path) {
  struct stat info{};
  if (fstat(STDIN_FILENO, &info) != 0 || S_ISCHR(info.st_mode)) return {};  // a terminal, /dev/null
  if (!S_ISREG(info.st_mode)) {
    // A pipe without a writer, as CI systems provide, must not block us forever.
    pollfd wanted{STDIN_FILENO, POLLIN, 0};
    if (poll(&wanted, 1, 1000) <= 0) return {};
  }
  std::string text;
  char buffer[1 << 16];
  for (ssize_t got; (got = read(STDIN_FILENO, buffer, sizeof buffer)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    text.append(buffer, static_cast<std::size_t>(got));
  }
  if (text.empty() || !write_file(path, text).empty()) return {};
  return path;
}

std::optional<double> parse_time(const std::string& text) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value >= 0) || value > 1e9) return std::nullopt;
  std::string unit = end;
  if (unit.empty() || unit == "s") return value;
  if (unit == "ms") return value / 1000;
  if (unit == "m" || unit == "min") return value * 60;
  if (unit == "h") return value * 3600;
  if (unit == "d") return value * 86400;
  return std::nullopt;
}

bool wants_color(const std::string& when, int fd) {
  if (when == "always") return true;
  if (when == "never") return false;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return isatty(fd) != 0 && (no_color == nullptr || *no_color == '\0');
}

std::string check_document(const std::string& where) {
  if (where.empty() || where == "-") return {};
  struct stat info{};
  if (stat(where.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return "'" + where + "' is a folder, not a file to write to";
    if (S_ISREG(info.st_mode) && (info.st_mode & 0111) != 0)
      return "'" + where + "' is a program and will not be overwritten; put the program to run after --";
    if (access(where.c_str(), W_OK) == 0) return {};
  } else {
    fs::path parent = fs::path(where).parent_path();
    if (access(parent.empty() ? "." : parent.c_str(), W_OK) == 0) return {};
  }
  return "cannot write '" + where + "': " + std::strerror(errno);
}

bool write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return true;
}

std::string write_document(const std::string& where, const std::string& text) {
  Descriptor file;
  int fd = STDOUT_FILENO;
  if (where != "-") {
    file = Descriptor(open(where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    fd = file.get();
  }
  if (fd >= 0 && write_all(fd, text)) return {};
  return "cannot write " + (where == "-" ? "standard output" : "'" + where + "'") + ": " +
         std::strerror(errno);
}

}  // namespace duress::exec
