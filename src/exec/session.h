// SPDX-License-Identifier: Apache-2.0
//
// What a command that executes a target needs: the input, the time, a place for its
// document.
#pragma once

#include <optional>
#include <string>

namespace duress::exec {

/// Copies what our standard input holds to the file `path`, so that every execution can read it from the
/// start. Returns the path, or "" if there is nothing to copy: a terminal, /dev/null, a pipe
/// without data.
std::string keep_input(const std::string& path);

/// Seconds of "30s", "5m", "2h", "1d", "250ms" or a plain number.
std::optional<double> parse_time(const std::string& text);

/// Whether to colour what goes to `fd`: "always", "never" or "auto", which honours NO_COLOR.
bool wants_color(const std::string& when, int fd = 2);

/// A place for a document ("-": stdout) is checked before the work: a typing mistake
/// must not lose an hour's result. "" or what is wrong.
std::string check_document(const std::string& where);
/// Writes all of it. False: errno says why.
bool write_all(int fd, const std::string& text);
/// Writes it there. "" or what went wrong.
std::string write_document(const std::string& where, const std::string& text);

}  // namespace duress::exec
