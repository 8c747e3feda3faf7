// SPDX-License-Identifier: Apache-2.0
//
// Small changes of source files that can be made automatically: a declaration becomes atomic, a statement
// gets a lock, a statement moves below another, a memory order is replaced. If the source does not look
// exactly as expected, there is no edit.
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
std::optional<FileEdit> open_for_edit(const std::string& path);

/// The variable, named as reports do ("counter", "Type::field"), becomes std::atomic. False: its declaration
/// was not found, or has an unsupported form.
bool make_atomic(FileEdit& edit, const std::string& variable);
/// The statement that is line `line` holds the lock of that name.
bool add_lock(FileEdit& edit, std::size_t line, const std::string& lock);
/// The statement that is line `line` comes after the one that is line `below`.
bool move_below(FileEdit& edit, std::size_t line, std::size_t below);

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
