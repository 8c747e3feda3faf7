// SPDX-License-Identifier: Apache-2.0
//
// Changed source files, and the small changes that need no syntax tree (rewriter.h makes the others): a
// statement that joins moves up, a memory order is replaced. If the source does not look exactly as expected,
// there is no edit.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace duress::repair {

/// Lines of one file, without their ends.
using Lines = std::vector<std::string>;

struct FileEdit {
  std::string path;
  Lines before, after;
  bool ends_in_newline = true;
};

Lines split_lines(const std::string& text);
std::string joined_lines(const Lines& lines, bool ends_in_newline);
std::optional<FileEdit> open_for_edit(const std::string& path);

/// What the statement on that line joins, as it is written there: "worker", "threads"; "" if it is not clear.
std::string joined_name(const FileEdit& edit, std::size_t line);
/// The statements on these lines, which join threads, come before the statement that begins on line `above`,
/// in the same block.
bool move_joins_above(FileEdit& edit, const std::set<std::size_t>& lines, std::size_t above);

/// The call at that place (its name, or what stands before it) has the memory order `order`, and where it is
/// a compare-and-exchange with two orders, `failing` as the second; "": there is none. False: the order is
/// ambiguous, or not written in the call.
bool change_order(FileEdit& edit, std::size_t line, std::size_t column, const std::string& order,
                  const std::string& failing);

/// As `diff -u` would print it; "" if nothing changed.
std::string unified_diff(const FileEdit& edit);

}  // namespace duress::repair
