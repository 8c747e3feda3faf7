// SPDX-License-Identifier: Apache-2.0
#include "cli/classify_screen.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/cluster_session.h"
#include "cli/commands.h"
#include "report/words.h"

namespace duress::cli {

using report::count_text;

ClassifyScreen::ClassifyScreen(bool silent) : silent_(silent) {
  const char* ci = std::getenv("CI");
  live_ = isatty(STDERR_FILENO) != 0 && (ci == nullptr || *ci == '\0');
}

void ClassifyScreen::show(const classify::ClassifyProgress& progress) {
  if (silent_) return;
  if (progress.seconds < last_ + (live_ ? 0.2 : 10)) return;
  last_ = progress.seconds;
  std::string text = count_text(progress.runs, "run");
  if (progress.seconds > 0)
    text += fmt::format(", {:.0f} runs/s", static_cast<double>(progress.runs) / progress.seconds);
  if (progress.variables != 0)
    text += fmt::format(", {}, {} destructive", count_text(progress.variables, "racing variable"),
                        progress.destructive);
  if (progress.failing != 0) text += fmt::format(", {} failing", progress.failing);
  text += fmt::format(", {}", progress.phase);
  if (progress.left > 0) text += fmt::format(", {:.0f} s left", progress.left);
  text += cluster_text();
  if (live_)
    fmt::print(stderr, "\r\033[K{}", text);
  else
    say(text);
  std::fflush(stderr);
  shown_ = live_;
}

void ClassifyScreen::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace duress::cli
