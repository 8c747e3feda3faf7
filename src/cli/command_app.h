// SPDX-License-Identifier: Apache-2.0
//
// The option parser of one command: what all of them share beside CLI11. Options come first, then, for
// commands of the form `duress CMD [OPTIONS] -- PROG ARGS`, the program.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace duress::cli {

class CommandApp : public CLI::App {
 public:
  /// `name` as it was typed: "classify", "trace record".
  CommandApp(std::string name, std::string description);

  /// Lets `option` be given without a value, which then means `meaning`. With `loose` its value may also be
  /// the next word if a `--` follows.
  void allow_bare(const std::string& option, const std::string& meaning, bool loose = false);

  /// Parses options alone. An exit code if that is all: help was asked for, or a message was printed.
  std::optional<int> read(const Arguments& arguments);
  /// Parses options before a `--`, which is optional; what follows it goes to `target`.
  std::optional<int> read_before_mark(const Arguments& arguments, std::vector<std::string>& target);
  /// Parses options and the program, which must be there. `rest` is shown in the usage line.
  std::optional<int> read_with_target(const Arguments& arguments, std::vector<std::string>& target,
                                      const std::string& rest = "-- PROG ARGS", bool required = true);

  /// Prints what is wrong; returns the exit code. "" is nothing wrong.
  std::optional<int> reject(const std::string& error) const;

 private:
  template <class Parse>
  std::optional<int> guarded(const std::string& rest, Parse parse);
  std::string command() const { return name_.substr(0, name_.find(' ')); }

  std::string name_;
  std::map<std::string, std::string> bare_;
  std::set<std::string> loose_;
};

/// Parses the options in `arguments` with `app` (which must be a prefix command) and returns the program and
/// its arguments. `bare` holds the meaning of options given without `=VALUE`. The options in `loose`
/// may have their value as the next argument, but only if a `--` follows: in `--json ./prog` that is the
/// program, and a report must never be written over it. Throws CLI::ParseError.
std::vector<std::string> parse_with_target(CLI::App& app, const Arguments& arguments,
                                           const std::map<std::string, std::string>& bare,
                                           const std::set<std::string>& loose);

/// A program that is only asked for the names of its tests, as build systems do with a launcher before it, is
/// started directly, with nothing added to what it prints. Does not return then.
void pass_on_listing(const std::vector<std::string>& target);

/// A number that is not smaller than `least`.
CLI::Validator at_least(int least);

}  // namespace duress::cli
