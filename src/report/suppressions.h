// SPDX-License-Identifier: Apache-2.0
//
// Suppression files in ThreadSanitizer's syntax, so that a project's existing file works as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"

namespace duress::report {

struct Suppression {
  std::string type;     // "race", "race_top", ...
  std::string pattern;  // as written
  std::string file;
  std::size_t line = 0;
  std::uint64_t used = 0;  // races it hid
};

/// Whether `text` matches `pattern`: anywhere in it, unless `^` or `$` anchors an end; `*` is any run of
/// characters.
bool matches(std::string_view pattern, std::string_view text);

class Suppressions {
 public:
  /// Adds the file's lines. Returns "" or one line that says what is wrong and where.
  std::string load(const std::string& path);
  std::string parse(std::string_view text, const std::string& name);

  /// Whether a line hides this race; counts the line as used. `cwd`: patterns may be written against the
  /// paths as they are shown.
  bool hides(const finding::Race& race, const std::string& cwd);

  /// The lines about races that never hid one, in order. Lines of the types that `duress run` has no finding
  /// for (thread, mutex, signal, deadlock) are not named: the file may be shared with another tool.
  std::vector<const Suppression*> unused() const;

 private:
  std::vector<Suppression> entries_;
};

/// The line that would hide exactly such races.
std::string suggest(const finding::Race& race);

}  // namespace duress::report
