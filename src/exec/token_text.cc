// SPDX-License-Identifier: Apache-2.0
#include "exec/token_text.h"

#include <cerrno>
#include <cstring>

#include "exec/files.h"
#include "trail/token.h"

namespace duress::exec {
namespace {

/// The token in a trail file: the first line that is not empty and no comment.
std::string token_line(const std::string& text) {
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty() && line[0] != '#') return line;
    start = end + 1;
  }
  return {};
}

std::string excerpt(const std::string& text) {
  return text.size() > 40 ? text.substr(0, 40) + "..." : text;
}

}  // namespace

std::string make_token(const Plan& plan, const Trail& trail, const std::string& program) {
  trail::TokenView view;
  view.points = plan.head.points;
  view.model = plan.head.model;
  view.tear = plan.head.tear;
  view.fair = plan.head.fair_after != 0;
  view.sample = plan.head.sample;
  view.variables = plan.head.variables;
  view.memory = plan.head.memory;
  view.systematic = plan.head.systematic;
  view.spurious = plan.head.spurious;
  view.timeouts = plan.head.timeouts;
  view.seed = plan.head.seed;
  view.most_steps = plan.head.most_steps;
  std::vector<u32> sites = plan.sites;
  sites.insert(sites.end(), plan.wait_sites.begin(), plan.wait_sites.end());
  view.sites = sites.data();
  view.site_count = static_cast<u32>(sites.size());
  view.wait_count = static_cast<u32>(plan.wait_sites.size());
  view.trail = trail.data();
  view.trail_count = trail.size();
  view.predictions = plan.predictions.data();
  view.prediction_count = static_cast<u32>(plan.predictions.size());
  std::string text(trail::token_room(view, program.c_str()), '\0');
  text.resize(trail::write_token(view, program.c_str(), text.data()));
  return text;
}

TokenText read_token_text(const std::string& given) {
  TokenText result;
  std::string text = given, where = "'" + excerpt(given) + "'";
  if (!given.empty() && given[0] == '@') {
    std::string path = given.substr(1);
    std::optional<std::string> content = read_file(path);
    if (!content) {
      result.error = "cannot read the trail '" + path + "': " + std::strerror(errno);
      return result;
    }
    text = token_line(*content);
    where = "the content of '" + path + "'";
  }
  std::vector<u64> memory(trail::token_memory(text.size()) / 8 + 1);
  trail::TokenHead head;
  trail::TokenView view;
  switch (trail::read_token(text.data(), text.size(), memory.data(), head, view)) {
    case trail::TokenError::kNone:
      break;
    case trail::TokenError::kNotAToken:
      result.error =
          where + " is not a replay token (D1.program.choices), an @file with one, or an id (F-12ab)";
      return result;
    case trail::TokenError::kVersion:
      result.error = "token of version " + std::to_string(head.version) + ", this duress reads " +
                     std::to_string(trail::kTokenVersion);
      return result;
    case trail::TokenError::kDamaged:
      result.error = where + " is a damaged replay token: a part is missing or changed; copy it as a whole";
      return result;
  }
  result.program.assign(head.program, head.program_length);
  result.plan.head.strategy = StrategyId::kReplay;
  result.plan.head.seed = view.seed;
  result.plan.head.points = view.points;
  result.plan.head.model = view.model;
  result.plan.head.detect = detect_for_replay(view.model, view.memory);
  result.plan.predictions.assign(view.predictions, view.predictions + view.prediction_count);
  result.plan.head.tear = view.tear;
  result.plan.head.sample = view.sample;
  result.plan.head.variables = view.variables;
  result.plan.head.memory = view.memory;
  result.plan.head.systematic = view.systematic;
  result.plan.head.spurious = view.spurious;
  result.plan.head.timeouts = view.timeouts;
  if (!view.fair) result.plan.head.fair_after = 0;
  result.plan.head.most_steps = view.most_steps;
  const u32* waits = view.sites + (view.site_count - view.wait_count);
  result.plan.sites.assign(view.sites, waits);
  result.plan.wait_sites.assign(waits, waits + view.wait_count);
  result.plan.trail.assign(view.trail, view.trail + view.trail_count);
  return result;
}

std::string check_token_program(const TokenText& token, const std::string& program) {
  char name[trail::kMostProgram + 1];
  trail::token_program(program.c_str(), name);
  if (token.program == name) return {};
  return "the token is of the program '" + token.program + "', not of '" + program + "'";
}

std::string trail_file_text(const std::string& id, const std::string& token) {
  return "# duress trail of " + id + "; replay it with: duress replay @THIS_FILE -- PROG ARGS\n" + token +
         "\n";
}

}  // namespace duress::exec
