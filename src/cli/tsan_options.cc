// SPDX-License-Identifier: Apache-2.0
#include "cli/tsan_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cli/command_app.h"
#include "cli/run_options.h"

namespace duress::cli {
namespace {

constexpr std::string_view kSeparators = " ,:\n\t\r";

std::string wrong_value(const char* key, const std::string& value, const char* allowed) {
  return fmt::format("TSAN_OPTIONS: {}={} must be {}", key, value, allowed);
}

/// "" or what is wrong. `number` is left alone if the key is not there.
std::string take_number(TsanOptions& options, const char* key, int most, std::optional<int>& number) {
  std::optional<std::string> value = options.take(key);
  if (!value) return {};
  bool digits = !value->empty() && value->size() <= 9 &&
                std::all_of(value->begin(), value->end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || std::stoi(*value) > most)
    return wrong_value(key, *value, fmt::format("a number from 0 to {}", most).c_str());
  number = std::stoi(*value);
  return {};
}

std::string use_common(TsanOptions& tsan, const CommandApp& app, SuppressionOptions& suppressions,
                       ScreenOptions& screen) {
  if (std::optional<std::string> file = tsan.take("suppressions");
      file && !file->empty() && !app.was_given("--suppressions"))
    suppressions.suppressions.push_back(*file);
  if (std::optional<std::string> color = tsan.take("color"); color && !app.was_given("--color")) {
    if (*color != "auto" && *color != "always" && *color != "never")
      return wrong_value("color", *color, "auto, always or never");
    if (std::getenv("NO_COLOR") == nullptr) screen.color = *color;
  }
  tsan.take("log_path");  // FormatOptions reads it, with --format tsan
  return {};
}

std::string use_run(TsanOptions& tsan, const CommandApp& app, RunOptions& options) {
  std::optional<int> code, wait;
  if (std::string error = take_number(tsan, "exitcode", 255, code); !error.empty()) return error;
  if (code && *code != 0) options.findings_code = *code;
  if (code && *code == 0 && !app.was_given("--fail-on")) options.fail_on = "never";
  if (std::optional<std::string> halt = tsan.take("halt_on_error"); halt && !app.was_given("--halt")) {
    bool yes = *halt == "1" || *halt == "true" || *halt == "yes";
    if (!yes && *halt != "0" && *halt != "false" && *halt != "no")
      return wrong_value("halt_on_error", *halt, "0 or 1");
    options.halt = yes;
  }
  if (std::string error = take_number(tsan, "atexit_sleep_ms", 999999999, wait); !error.empty()) return error;
  if (wait && !app.was_given("--exit-wait"))
    options.exit_wait = *wait == 0 ? "0" : fmt::format("{}ms", *wait);
  return {};
}

void say_rest(const TsanOptions& tsan, const ScreenOptions& screen) {
  std::vector<std::string> rest = tsan.rest();
  if (screen.verbose && !rest.empty())
    say(fmt::format("TSAN_OPTIONS: {} {} no meaning here", fmt::join(rest, ", "),
                    rest.size() == 1 ? "has" : "have"));
}

}  // namespace

TsanOptions::TsanOptions(const std::string& text) {
  auto separates = [](char c) { return kSeparators.find(c) != std::string_view::npos; };
  std::size_t at = 0;
  while (at < text.size()) {
    if (separates(text[at])) {
      ++at;
      continue;
    }
    std::size_t sign = at;
    while (sign < text.size() && text[sign] != '=' && !separates(text[sign])) ++sign;
    std::string key = text.substr(at, sign - at), value;
    at = sign;
    if (at < text.size() && text[at] == '=') {
      ++at;
      char quote = at < text.size() && (text[at] == '"' || text[at] == '\'') ? text[at] : '\0';
      if (quote != '\0') ++at;
      std::size_t begin = at;
      while (at < text.size() && (quote != '\0' ? text[at] != quote : !separates(text[at]))) ++at;
      value = text.substr(begin, at - begin);
      if (quote != '\0' && at < text.size()) ++at;
    }
    all_.emplace_back(std::move(key), std::move(value));
  }
}

TsanOptions TsanOptions::from_environment() {
  const char* text = std::getenv("TSAN_OPTIONS");
  return TsanOptions(text == nullptr ? "" : text);
}

std::optional<std::string> TsanOptions::take(const std::string& key) {
  taken_.insert(key);
  for (auto it = all_.rbegin(); it != all_.rend(); ++it) {
    if (it->first == key) return it->second;
  }
  return std::nullopt;
}

std::vector<std::string> TsanOptions::rest() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : all_) {
    if (taken_.count(key) == 0 && std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

std::string use_tsan_options(const CommandApp& app, SuppressionOptions& suppressions, ScreenOptions& screen) {
  TsanOptions tsan = TsanOptions::from_environment();
  std::string error = use_common(tsan, app, suppressions, screen);
  if (error.empty()) say_rest(tsan, screen);
  return error;
}

std::string use_tsan_options(const CommandApp& app, RunOptions& options) {
  TsanOptions tsan = TsanOptions::from_environment();
  std::string error = use_common(tsan, app, options, options);
  if (error.empty()) error = use_run(tsan, app, options);
  if (error.empty()) say_rest(tsan, options);
  return error;
}

}  // namespace duress::cli
