// SPDX-License-Identifier: Apache-2.0
//
// What CLI11 does not do by itself for commands of the form `duress CMD [OPTIONS] -- PROG ARGS`.
#ifndef DURESS_CLI_COMMAND_LINE_H_
#define DURESS_CLI_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace duress::cli {

/// Parses the options in `arguments` with `app` (which must be a prefix command) and returns the program and
/// its arguments. `bare` holds the meaning of options given without `=VALUE`. The options in `loose`
/// may have their value as the next argument, but only if a `--` follows: in `--json ./prog` that is the
/// program, and a report must never be written over it. Throws CLI::ParseError.
std::vector<std::string> parse_with_target(CLI::App& app, const Arguments& arguments,
                                           const std::map<std::string, std::string>& bare,
                                           const std::set<std::string>& loose);

/// The help of `app`, with what follows the options.
std::string help_text(const CLI::App& app, const std::string& rest);

/// `text` on stderr with a newline, as it is but for control characters.
void say_plain(const std::string& text);

/// `path` as users want to see it: relative if it lies below the current folder.
std::string report_path(const std::string& path);

}  // namespace duress::cli

#endif  // DURESS_CLI_COMMAND_LINE_H_
