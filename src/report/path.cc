// SPDX-License-Identifier: Apache-2.0
//
// Showing what a hostile target calls itself must never be worse than not showing it.
#include "report/path.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>

#include "report/source_paths.h"

namespace duress::report {
namespace {

/// Length of the well-formed UTF-8 sequence at the start of `text` and its code point; 0 if there is none.
std::size_t decode(std::string_view text, std::uint32_t& point) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t length = byte(0) < 0x80       ? 1
                       : byte(0) >> 5 == 6  ? 2
                       : byte(0) >> 4 == 14 ? 3
                       : byte(0) >> 3 == 30 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  point = length == 1 ? byte(0) : byte(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  static constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return point < kSmallest[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000) ? 0 : length;
}

bool turns_direction(std::uint32_t point) {
  return (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) || point == 0x200e ||
         point == 0x200f || point == 0x061c || point == 0x2028 || point == 0x2029;
}

/// The file of the project in `cwd` that `path` of debug information means.
std::string project_path(const std::string& path, const std::string& cwd) {
  thread_local std::map<std::string, SourcePaths> known;
  return known.try_emplace(cwd, cwd).first->second.find(path);
}

}  // namespace

std::string shown_path(const std::string& given, const std::string& cwd) {
  if (given.empty() || cwd.empty()) return given;
  const std::string path = project_path(given, cwd);
  if (path[0] != '/') return path;
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  std::string prefix = cwd.back() == '/' ? cwd : cwd + '/';
  return normal.rfind(prefix, 0) == 0 && normal.size() > prefix.size() ? normal.substr(prefix.size())
                                                                       : normal;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::uint32_t point = 0;
    std::size_t length = decode(text, point);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      length = 1;
    } else if (point < 0x20 || (point >= 0x7f && point < 0xa0)) {
      out += fmt::format("\\x{:02x}", point);
    } else if (turns_direction(point)) {
      out += fmt::format("\\u{{{:x}}}", point);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace duress::report
