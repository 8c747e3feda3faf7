// SPDX-License-Identifier: Apache-2.0
//
// Identity of findings. People write ids into bug trackers, baselines and commit messages, so an id may
// depend only on what an unrelated edit, another machine, or another schedule leaves alone: names.
// Lines, columns, thread numbers, addresses and which of the two accesses came first are left out.
#include "finding/finding.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "finding/stable_name.h"
#include "finding/text.h"

namespace duress::finding {
namespace {

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  // FNV's high bits mix badly on short strings; ids are cut from the top.
  hash ^= hash >> 32;
  hash *= 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

std::string joined_sorted(std::string a, std::string b) {
  if (b < a) std::swap(a, b);
  return a + '\0' + b;
}

auto position(const AccessReport& access) {
  Frame site = access.site();
  return std::make_tuple(site.file, site.line, site.column, site.function, static_cast<int>(access.access));
}

}  // namespace

const char* category_name(Category category) {
  static constexpr const char* kNames[kCategories] = {"race",         "counter",  "flag",    "same-value",
                                                      "special-name", "volatile", "untyped", "atomic"};
  return kNames[static_cast<std::size_t>(category)];
}

const char* Race::kind() const {
  if (!is_write(sites[0].access)) return "read-write";
  return is_write(sites[1].access) ? "write-write" : "write-read";
}

std::size_t Race::headline() const {
  bool first = is_write(sites[0].access), second = is_write(sites[1].access);
  if (first != second) return first ? 0 : 1;
  return position(sites[1]) < position(sites[0]) ? 1 : 0;
}

std::string group_key(const Race& race) {
  std::array<std::string, 2> parts;
  for (std::size_t i = 0; i < 2; ++i) {
    Frame site = race.sites[i].site();
    parts[i] = site.file + '\1' + std::to_string(site.line) + '\1' + std::to_string(site.column) + '\1' +
               site.function + '\1' + access_name(race.sites[i].access);
    // Without a line the address in the file is all that tells two places apart.
    if (site.file.empty()) parts[i] += '\1' + site.module + '\1' + std::to_string(site.module_offset);
  }
  return race.variable_key + '\0' + joined_sorted(parts[0], parts[1]);
}

std::string stable_name(const std::string& function) {
  // clang's `main::$_0::operator()`, LLVM's demangler's `'lambda0'(int)`, GCC's `{lambda(int)#1}`
  static constexpr std::string_view kMarks[] = {"$_", "'lambda", ")#", "{unnamed type#"};
  std::string text;
  for (std::size_t at = 0; at < function.size();) {
    std::size_t length = 0;
    for (std::string_view mark : kMarks) {
      if (function.compare(at, mark.size(), mark) == 0) length = mark.size();
    }
    if (length == 0) {
      text += function[at++];
      continue;
    }
    text.append(function, at, length);
    for (at += length; at < function.size() && function[at] >= '0' && function[at] <= '9';) ++at;
  }
  return text;
}

namespace {

/// Whether the key is that of one variable of the source, not of memory in general or of whatever a pointer
/// points to.
bool names_variable(const std::string& key) {
  return !key.empty() && key[0] != '*' && key != "heap block" && key != "stack" &&
         key != "thread-local memory";
}

}  // namespace

std::string identity(const Race& race) {
  std::string variable = stable_name(race.variable_key);
  if (names_variable(race.variable_key)) return variable;
  std::array<std::string, 2> parts;
  for (std::size_t i = 0; i < 2; ++i) {
    Frame site = race.sites[i].site();
    const std::string& place = site.file.empty() ? site.module : site.file;
    parts[i] = base_name(place) + '\1' + stable_name(site.function);
  }
  return variable + '\0' + joined_sorted(parts[0], parts[1]);
}

void assign_ids(std::vector<Race>& races) {
  std::vector<std::string> hex;
  std::map<std::string, std::set<std::string>> clashes;
  for (const Race& race : races) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(fnv1a(identity(race))));
    hex.push_back(digits);
    clashes[hex.back().substr(0, 4)].insert(hex.back());
  }
  for (std::size_t i = 0; i < races.size(); ++i) {
    std::string shortest = hex[i].substr(0, 4);
    races[i].id = "R-" + (clashes[shortest].size() > 1 ? hex[i].substr(0, 8) : shortest);
  }
}

}  // namespace duress::finding
