// SPDX-License-Identifier: Apache-2.0
//
// The site table that the pass left in a binary (include/duress/hooks.h), read from the file.
//
// The target only ever carries pointers into the table; file names, lines and variables are looked up
// here, after the run. The table is in allocated sections, so it survives `strip`: sites keep their
// names even where debug information is gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace duress::report {

struct Site {
  std::string file;
  std::string function;
  std::string variable;
  std::uint32_t line = 0;
  std::uint16_t column = 0;
  std::uint8_t access = 0;  // DuressAccess
  std::uint8_t size = 0;
  std::uint8_t variable_kind = 0;           // DuressVariable
  bool faithful = false;                    // in a faithful body, else in a checked one
  std::optional<std::uint32_t> inlined_at;  // index in the same table
};

class SiteTable {
 public:
  /// Reads the table of the ELF file `path`. A file without one gives an empty table; a damaged one gives
  /// what could be read and says why in problem().
  static SiteTable load(const std::string& path);
  /// The same from the bytes of a file.
  static SiteTable parse(std::string_view bytes);

  /// The site at `index`, which counts 32-byte entries of the section, headers included.
  const Site* find(std::uint32_t index) const;
  std::size_t size() const { return count_; }
  /// One more than the greatest index.
  std::uint32_t entries() const { return static_cast<std::uint32_t>(entries_.size()); }
  const std::string& problem() const { return problem_; }
  /// A unit of another version of duress-cc is the problem.
  bool is_of_another_version() const { return other_version_; }
  /// The file's GNU build id in hex, or "".
  const std::string& build_id() const { return build_id_; }

 private:
  std::vector<std::optional<Site>> entries_;  // nullopt: a header
  std::size_t count_ = 0;
  std::string problem_;
  bool other_version_ = false;
  std::string build_id_;
};

}  // namespace duress::report
