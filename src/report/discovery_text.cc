// SPDX-License-Identifier: Apache-2.0
#include "report/discovery_text.h"

#include <fmt/format.h>

#include "report/path.h"
#include "report/words.h"

namespace duress::report {
namespace {

std::string strategy_text(const Discovery& found) {
  std::string text = "found by " + found.strategy;
  if (found.depth != 0) text += fmt::format(" of depth {}", found.depth);
  if (found.weak_model) text += fmt::format(" with model {}, {}", found.model, found.heuristic);
  return text;
}

/// What the memory model did to it.
std::string model_text(const Discovery& found) {
  if (found.stale == 0 && found.early == 0) return "needs no stale value: it fails with any memory model";
  std::string text = found.stale != 0 ? plural(found.stale, "stale value") : "";
  if (found.early != 0)
    text += fmt::format("{}{} before an earlier one in modification order", text.empty() ? "" : ", ",
                        plural(found.early, "store"));
  if (found.without_model == 0) return "needs " + text;
  return fmt::format("needs {}; with sequentially consistent memory {}", text,
                     found.needs_model ? fmt::format("{} schedules pass", found.without_model)
                                       : fmt::format("schedule {} fails too", found.without_model));
}

}  // namespace

std::vector<std::string> discovery_remarks(const FailureEntry& entry, std::int64_t seed,
                                           const FindingStyle& style) {
  const Discovery& found = entry.found;
  std::vector<std::string> lines;
  std::string how = strategy_text(found);
  if (!found.replay_tried) {
    lines.push_back(
        fmt::format("{} in run {}, seed {}; no time was left to replay it", how, found.run, seed));
  } else if (!found.replayed) {
    std::string at = found.diverged != 0 ? fmt::format(": diverged at choice {}", found.diverged - 1) : "";
    lines.push_back(fmt::format("{} in run {}; it did not come again when replayed{}", how, found.run, at));
  } else {
    std::string fewer = found.first_switches > found.switches
                            ? fmt::format(" ({} when it was found)", found.first_switches)
                            : "";
    lines.push_back(fmt::format("needs {}{}{}; {} in run {}, seed {}", switches_text(found.switches),
                                found.fewest ? "" : ", perhaps not the fewest", fewer, how, found.run, seed));
  }
  if (found.weak_model) lines.push_back(model_text(found));
  lines.push_back(fmt::format("replay: duress replay {}{}", entry.failure.id, style.replay_options));
  std::string token = found.token;
  if (token.rfind('@', 0) == 0) token = "@" + shown_path(token.substr(1), style.cwd);
  lines.push_back("token: " + token);
  return lines;
}

}  // namespace duress::report
