// SPDX-License-Identifier: Apache-2.0
#include "cli/live_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "cli/commands.h"
#include "cli/error_stream.h"
#include "report/path.h"

namespace duress::cli {
namespace {

/// As much of the text as one row of the terminal holds: only one row can be written over.
std::string fitting(const std::string& text) {
  std::string safe = report::printable(text);
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return safe;
  std::size_t end = 0;
  for (unsigned columns = 0; end < safe.size(); ++end) {
    bool begins = (static_cast<unsigned char>(safe[end]) & 0xc0) != 0x80;  // a character of UTF-8
    if (begins && ++columns >= size.ws_col) break;
  }
  return safe.substr(0, end);
}

}  // namespace

LiveLine::LiveLine(bool silent) : silent_(silent) {
  const char* ci = std::getenv("CI");
  const char* term = std::getenv("TERM");
  bool dumb = term != nullptr && std::strcmp(term, "dumb") == 0;
  live_ = isatty(STDERR_FILENO) != 0 && !dumb && (ci == nullptr || *ci == '\0');
}

bool LiveLine::due(double seconds) {
  if (silent_ || seconds < last_ + (live_ ? 0.2 : 10)) return false;
  last_ = seconds;
  return true;
}

void LiveLine::show(const std::string& text) {
  if (live_)
    write_errors("\r\033[K" + fitting(text));
  else
    say(text);
  std::fflush(stderr);
  shown_ = live_;
}

void LiveLine::clear() {
  if (shown_) write_errors("\r\033[K");
  shown_ = false;
}

}  // namespace duress::cli
