// SPDX-License-Identifier: Apache-2.0
//
// A suppression that matches too much hides real bugs, so an unknown type or an empty pattern is an error
// with its line rather than something to skip: a typing mistake must not look like a clean run.
#include "report/suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "finding/text.h"
#include "report/path.h"

namespace duress::report {
namespace {

constexpr std::array kTypes = {"race",  "race_top", "called_from_lib", "thread",
                               "mutex", "signal",   "deadlock"};

std::string_view trimmed(std::string_view text) {
  const char* kSpace = " \t\r\f\v";
  std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool matches_frame(std::string_view pattern, const finding::Frame& frame, const std::string& cwd) {
  for (const std::string* text : {&frame.function, &frame.signature, &frame.file, &frame.module}) {
    if (!text->empty() && matches(pattern, *text)) return true;
  }
  return (!frame.file.empty() && matches(pattern, shown_path(frame.file, cwd))) ||
         (!frame.module.empty() && matches(pattern, finding::base_name(frame.module)));
}

bool matches_race(const Suppression& entry, const finding::Race& race, const std::string& cwd) {
  if (entry.type == "race") {
    if (matches(entry.pattern, race.variable)) return true;
    if (!race.block.name.empty() && matches(entry.pattern, race.block.name)) return true;
  }
  for (const finding::AccessReport& site : race.sites) {
    if (entry.type == "race") {
      for (const finding::Frame& frame : site.stack) {
        if (matches_frame(entry.pattern, frame, cwd)) return true;
      }
    } else if (entry.type == "race_top") {
      if (!site.stack.empty() && matches_frame(entry.pattern, site.stack[0], cwd)) return true;
    } else if (entry.type == "called_from_lib") {
      for (const finding::Frame& frame : site.stack) {
        if (frame.module.empty()) continue;  // the library function itself
        if (matches(entry.pattern, frame.module)) return true;
        break;
      }
    }
  }
  return false;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  bool at_start = !pattern.empty() && pattern.front() == '^';
  if (at_start) pattern.remove_prefix(1);
  bool at_end = !pattern.empty() && pattern.back() == '$';
  if (at_end) pattern.remove_suffix(1);
  std::size_t at = 0;
  bool floating = !at_start;  // may the next piece start anywhere from `at` on?
  while (true) {
    std::size_t star = pattern.find('*');
    std::string_view piece = pattern.substr(0, star);
    bool last = star == std::string_view::npos;
    if (last && at_end) {
      if (text.size() - at < piece.size()) return false;
      std::size_t tail = text.size() - piece.size();
      return text.substr(tail) == piece && (floating || tail == at);
    }
    std::size_t found =
        floating ? text.find(piece, at) : (text.substr(at, piece.size()) == piece ? at : text.npos);
    if (found == std::string_view::npos) return false;
    if (last) return true;
    at = found + piece.size();
    pattern.remove_prefix(star + 1);
    floating = true;
  }
}

std::string Suppressions::load(const std::string& path) {
  constexpr std::size_t kMost = 64u << 20;  // a device such as /dev/zero has no end
  auto problem = [&](int error) {
    return fmt::format("cannot read suppressions '{}': {}", path, std::strerror(error));
  };
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return problem(errno);
  std::string text;
  char buffer[1 << 14];
  for (std::size_t got; text.size() <= kMost && (got = std::fread(buffer, 1, sizeof buffer, file)) != 0;)
    text.append(buffer, got);
  int error = std::ferror(file) != 0 ? errno : text.size() > kMost ? EFBIG : 0;
  std::fclose(file);
  return error != 0 ? problem(error) : parse(text, path);
}

std::string Suppressions::parse(std::string_view text, const std::string& name) {
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    std::size_t end = text.find('\n');
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return fmt::format("{}:{}: '{}' is not TYPE:PATTERN (for example race:my_function)", name, number,
                         printable(line));
    }
    std::string type(trimmed(line.substr(0, colon)));
    std::string pattern(trimmed(line.substr(colon + 1)));
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
      return fmt::format("{}:{}: unknown suppression type '{}'; known are {}", name, number, printable(type),
                         fmt::join(kTypes, ", "));
    }
    if (pattern.find_first_not_of("^$*") == std::string::npos) {
      return fmt::format("{}:{}: the pattern of '{}' is empty and would hide everything", name, number,
                         printable(line));
    }
    entries_.push_back({std::move(type), std::move(pattern), name, number, 0});
  }
  return {};
}

bool Suppressions::hides(const finding::Race& race, const std::string& cwd) {
  bool hidden = false;
  for (Suppression& entry : entries_) {  // all of them: a line is unused only if nothing fits it
    if (!matches_race(entry, race, cwd)) continue;
    entry.used += race.count;
    hidden = true;
  }
  return hidden;
}

std::vector<const Suppression*> Suppressions::unused() const {
  std::vector<const Suppression*> result;
  for (const Suppression& entry : entries_) {
    bool about_races = entry.type == "race" || entry.type == "race_top" || entry.type == "called_from_lib";
    if (about_races && entry.used == 0) result.push_back(&entry);
  }
  return result;
}

std::string suggest(const finding::Race& race) {
  // A variable that keeps its name from run to run is the narrowest; else the place of the access.
  // (`*p` is no name to write down: the star would stand for anything.)
  bool lasting = !race.variable_key.empty() && race.variable_key == race.variable;
  if (lasting && race.variable.find('*') == std::string::npos) return "race:^" + race.variable + "$";
  finding::Frame site = race.sites[race.headline()].site();
  if (!site.function.empty()) return "race:^" + site.function;
  if (!site.file.empty()) return "race:" + finding::base_name(site.file);
  return "called_from_lib:" + finding::base_name(site.module);
}

}  // namespace duress::report
