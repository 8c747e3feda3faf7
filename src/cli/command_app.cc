// SPDX-License-Identifier: Apache-2.0
#include "cli/command_app.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command_line.h"

namespace duress::cli {
namespace {

/// CLI11 puts a colon between an option and what its validator says.
std::string message_of(const CLI::ParseError& error) {
  std::string text = error.what();
  std::size_t colon = text.find(": must be ");
  return colon == std::string::npos ? text : text.erase(colon, 1);
}

}  // namespace

CommandApp::CommandApp(std::string name, std::string description)
    : CLI::App(std::move(description), "duress " + name), name_(std::move(name)) {
  set_help_flag("-h,--help", "Show this help");
}

void CommandApp::allow_bare(const std::string& option, const std::string& meaning, bool loose) {
  bare_[option] = meaning;
  if (loose) loose_.insert(option);
}

template <class Parse>
std::optional<int> CommandApp::guarded(const std::string& rest, Parse parse) {
  try {
    parse();
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_text(*this, rest));
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return wrong_use(command(), message_of(error));
  }
  return std::nullopt;
}

std::optional<int> CommandApp::read(const Arguments& arguments) {
  return guarded("", [&] {
    Arguments words(arguments.rbegin(), arguments.rend());  // CLI11 takes arguments from the back
    for (std::string& word : words) {
      if (auto meaning = bare_.find(word); meaning != bare_.end()) word += "=" + meaning->second;
    }
    parse(words);
  });
}

std::optional<int> CommandApp::read_before_mark(const Arguments& arguments,
                                                std::vector<std::string>& target) {
  auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end()) target.assign(mark + 1, arguments.end());
  return read({arguments.begin(), mark});
}

std::optional<int> CommandApp::read_with_target(const Arguments& arguments, std::vector<std::string>& target,
                                                const std::string& rest, bool required) {
  prefix_command();
  std::optional<int> code =
      guarded(rest, [&] { target = parse_with_target(*this, arguments, bare_, loose_); });
  if (code || !required || (!target.empty() && !target[0].empty())) return code;
  return reject("no program given; put it and its arguments after --");
}

std::optional<int> CommandApp::reject(const std::string& error) const {
  if (error.empty()) return std::nullopt;
  return wrong_use(command(), error);
}

CLI::Validator at_least(int least) {
  auto check = [least](const std::string& text) -> std::string {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("must be a number, not '{}'", text);
    return value < least ? fmt::format("must be at least {}", least) : "";
  };
  return CLI::Validator(check, least > 0 ? "POSITIVE" : "NONNEGATIVE");
}

}  // namespace duress::cli
