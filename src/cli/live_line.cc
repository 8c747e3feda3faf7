// SPDX-License-Identifier: Apache-2.0
#include "cli/live_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/commands.h"

namespace duress::cli {

LiveLine::LiveLine(bool silent) : silent_(silent) {
  const char* ci = std::getenv("CI");
  live_ = isatty(STDERR_FILENO) != 0 && (ci == nullptr || *ci == '\0');
}

bool LiveLine::due(double seconds) {
  if (silent_ || seconds < last_ + (live_ ? 0.2 : 10)) return false;
  last_ = seconds;
  return true;
}

void LiveLine::show(const std::string& text) {
  if (live_)
    fmt::print(stderr, "\r\033[K{}", text);
  else
    say(text);
  std::fflush(stderr);
  shown_ = live_;
}

void LiveLine::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace duress::cli
