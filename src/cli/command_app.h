// SPDX-License-Identifier: Apache-2.0
//
// The option parser of one command. Options come first, then, for commands of the form
// `duress CMD [OPTIONS] -- PROG ARGS`, the program. CLI11 does the work; only command_app.cc includes it,
// because each file that does takes two seconds more to compile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/added_option.h"
#include "cli/commands.h"
#include "cli/project_file.h"

namespace CLI {
class App;
}

namespace duress::cli {

class CommandApp {
 public:
  /// `name` as it was typed: "classify", "trace record".
  CommandApp(std::string name, std::string description);
  ~CommandApp();

  /// `names`: "-t,--tool", or "FILE" for an argument without a name. command_app.cc lists the types of
  /// values.
  template <class Value>
  AddedOption add_option(const std::string& names, Value& value, const std::string& help = "");
  AddedOption add_flag(const std::string& names, bool& value, const std::string& help = "");
  void add_flag_callback(const std::string& names, std::function<void()> given, const std::string& help);
  /// What help says at its end.
  void footer(const std::string& text);
  AddedOption option(const std::string& name) const;
  bool was_given(const std::string& name) const;

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
  std::optional<int> guarded(const Arguments& words, const std::string& rest, Parse parse);
  std::string command() const { return name_.substr(0, name_.find(' ')); }
  /// The user's options, and those of .duress.toml that they do not give. "" or what is wrong.
  std::string with_project(Arguments& ours);
  std::string project_words(const ProjectFile& file, Arguments& ours);
  /// `duress config`: all values and where they come from.
  void print_origins() const;

  std::unique_ptr<CLI::App> app_;
  std::string name_;
  std::map<std::string, std::string> bare_;
  std::set<std::string> loose_;
  std::map<std::string, std::string> origins_;  // where an option's value comes from, by its name
};

/// From now on commands print where their options come from instead of doing their work.
void only_print_origins();

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

}  // namespace duress::cli
