// SPDX-License-Identifier: Apache-2.0
//
// Arguments before `--` are duress's own, those after it the program's. Without a `--` the first argument
// that is not an option starts the program, because that is what people type; an unknown option is then an
// error and never taken for a program.
#include "cli/command_app.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/exec_words.h"
#include "catalog/lookup.h"
#include "exec/program.h"

namespace duress::cli {
namespace {

/// CLI11's messages in our words: the option, its value, what is allowed.
std::string message_of(const CLI::ParseError& error) {
  std::string text = error.what();
  constexpr std::string_view kNumber = "Could not convert: ";
  if (text.starts_with(kNumber)) {  // "NAME = VALUE"; all values but texts are whole numbers
    std::string what = text.substr(kNumber.size());
    std::size_t sign = what.find(" = ");
    if (sign == std::string::npos) return "invalid value: " + what;
    return fmt::format("{} must be a whole number, not '{}'", what.substr(0, sign), what.substr(sign + 3));
  }
  if (std::size_t missing = text.find(" required ");
      missing != std::string::npos && text.ends_with(" missing"))
    return text.substr(0, text.find(':')) + " needs a value";
  constexpr std::string_view kExtra = "not expected: ";
  if (std::size_t extra = text.find(kExtra); extra != std::string::npos)
    return fmt::format("unexpected argument '{}'", text.substr(extra + kExtra.size()));
  std::size_t colon = text.find(": must be ");
  return colon == std::string::npos ? text : text.erase(colon, 1);
}

/// The first word that has the form of a long option and is none; "" if there is none.
std::string unknown_option(const CLI::App& app, const Arguments& words) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const std::string& word : words) {
    if (word == "--") break;
    std::string name = word.substr(0, word.find('='));
    if (word.rfind("--", 0) != 0 || std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fmt::format("unknown option '{}'{}", name, catalog::nearest_hint(name, known));
  }
  return "";
}

/// A value given to an option that takes none; "" if there is none such. A project file says true or false.
std::string flag_value(const CLI::App& app, const Arguments& words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    std::size_t sign = word.find('=');
    if (sign == std::string::npos || !word.starts_with("--")) continue;
    std::string name = word.substr(0, sign), value = word.substr(sign + 1);
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr || option->get_expected_max() != 0 || value == "true" || value == "false") continue;
    return fmt::format("{} takes no value, not '{}'", name, value);
  }
  return "";
}

/// An exit code if that cannot be a program, after a message.
std::optional<int> check_program(const std::vector<std::string>& target) {
  std::string problem = target.empty() ? "" : exec::program_problem(target[0]);
  if (problem.empty()) return std::nullopt;
  say(problem);
  return kExitToolFailed;
}

bool g_only_origins = false;

/// The names of an option as they are typed.
std::vector<std::string> typed_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

/// Options that several commands have: a key for all commands may be one that this command does not know.
bool is_option_of_any(const std::string& key) {
  static const std::set<std::string> known = {
      "runs",    "time",     "seed",    "jobs",          "run-timeout", "dir",      "suppressions",
      "fail-on", "baseline", "check",   "expect-output", "expect-exit", "model",    "heuristic",
      "color",   "quiet",    "verbose", "volatile",      "tear",        "strategy", "timeouts",
      "html",    "sarif",    "junit",   "json",          "perfetto",    "editor"};
  return known.count(key) != 0;
}

/// Whether the user's words give that option.
bool is_given(const CLI::Option& option, const Arguments& words) {
  for (const std::string& name : typed_names(option)) {
    bool is_short = name[1] != '-';
    for (const std::string& word : words) {
      if (word == name || word.rfind(name + "=", 0) == 0) return true;
      if (is_short && word.rfind(name, 0) == 0) return true;
    }
  }
  return false;
}

/// The help of `app`, with what follows the options.
std::string help_text(const CLI::App& app, const std::string& rest) {
  std::string text = app.help();
  std::size_t usage = text.find("[OPTIONS]");
  if (usage != std::string::npos && !rest.empty()) text.insert(usage + 9, " " + rest);
  return text;
}

}  // namespace

std::vector<std::string> parse_with_target(CLI::App& app, const Arguments& arguments,
                                           const std::map<std::string, std::string>& bare,
                                           const std::set<std::string>& loose) {
  auto mark = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> ours;
  for (auto it = arguments.begin(); it != mark; ++it) {
    auto meaning = bare.find(*it);
    if (meaning == bare.end()) {
      ours.push_back(*it);
      continue;
    }
    auto next = it + 1;
    bool takes_next = loose.count(*it) != 0 && mark != arguments.end() && next != mark && (*next)[0] != '-';
    ours.push_back(*it + "=" + (takes_next ? *next : meaning->second));
    if (takes_next) ++it;
  }
  std::reverse(ours.begin(), ours.end());  // CLI11 takes arguments from the back
  app.parse(ours);

  std::vector<std::string> target = app.remaining();
  if (!target.empty() && target[0].size() > 1 && target[0][0] == '-') {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    std::string name = target[0].substr(0, target[0].find('='));
    throw CLI::ExtrasError(fmt::format("unknown option '{}'{}", name, catalog::nearest_hint(name, known)),
                           CLI::ExitCodes::ExtrasError);
  }
  if (!target.empty() && mark != arguments.end()) target.push_back("--");  // it belongs to the program
  if (mark != arguments.end()) target.insert(target.end(), mark + 1, arguments.end());
  return target;
}

CommandApp::CommandApp(std::string name, std::string description)
    : app_(std::make_unique<CLI::App>(std::move(description), "duress " + name)), name_(std::move(name)) {
  app_->set_help_flag("-h,--help", "Show this help");
}

CommandApp::~CommandApp() = default;

template <class Value>
AddedOption CommandApp::add_option(const std::string& names, Value& value, const std::string& help) {
  return AddedOption(app_->add_option(names, value, help));
}
template AddedOption CommandApp::add_option(const std::string&, std::string&, const std::string&);
template AddedOption CommandApp::add_option(const std::string&, std::vector<std::string>&,
                                            const std::string&);
template AddedOption CommandApp::add_option(const std::string&, int&, const std::string&);
template AddedOption CommandApp::add_option(const std::string&, unsigned&, const std::string&);
template AddedOption CommandApp::add_option(const std::string&, std::int64_t&, const std::string&);
template AddedOption CommandApp::add_option(const std::string&, u64&, const std::string&);

AddedOption CommandApp::add_flag(const std::string& names, bool& value, const std::string& help) {
  return AddedOption(app_->add_flag(names, value, help));
}

void CommandApp::add_flag_callback(const std::string& names, std::function<void()> given,
                                   const std::string& help) {
  app_->add_flag_callback(names, std::move(given), help);
}

void CommandApp::footer(const std::string& text) {
  app_->footer(text);
}
AddedOption CommandApp::option(const std::string& name) const {
  return AddedOption(app_->get_option(name));
}
bool CommandApp::was_given(const std::string& name) const {
  return app_->count(name) != 0;
}

void CommandApp::allow_bare(const std::string& option, const std::string& meaning, bool loose) {
  bare_[option] = meaning;
  if (loose) loose_.insert(option);
}

std::string CommandApp::project_words(const ProjectFile& file, Arguments& ours) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back(name);
  }
  Arguments words;
  std::set<std::string> own;  // a table of the command wins over what is for all
  for (const ProjectSetting& setting : file.settings) {
    if (setting.command == command()) own.insert(setting.key);
  }
  for (const ProjectSetting& setting : file.settings) {
    bool mine = setting.command == command();
    if (!mine && (!setting.command.empty() || own.count(setting.key) != 0)) continue;
    const CLI::Option* option = app_->get_option_no_throw("--" + setting.key);
    if (option == nullptr) {
      if (mine || !is_option_of_any(setting.key))
        return fmt::format("{}: unknown key '{}'{}", file.place(setting), setting.key,
                           catalog::nearest_hint(setting.key, known));
      continue;
    }
    bool is_flag = option->get_items_expected_max() == 0;
    if (is_flag != setting.flag)
      return fmt::format("{}: {} must be {}", file.place(setting), setting.key,
                         is_flag ? "true or false" : "a text or a number");
    if (setting.list && option->get_expected_max() <= 1)
      return fmt::format("{}: {} takes one value, not a list", file.place(setting), setting.key);
    bool colour = setting.key == "color" && std::getenv("NO_COLOR") != nullptr;
    if (is_given(*option, ours) || colour) continue;
    origins_[option->get_name()] = file.place(setting);
    if (is_flag && setting.values[0] == "true") words.push_back("--" + setting.key);
    for (const std::string& value : setting.values) {
      if (!is_flag) words.push_back("--" + setting.key + "=" + value);
    }
  }
  ours.insert(ours.begin(), words.begin(), words.end());
  return "";
}

std::string CommandApp::with_project(Arguments& ours) {
  for (const std::string& word : ours) {
    if (word == "-h" || word == "--help") return "";
  }
  for (const CLI::Option* option : app_->get_options()) {
    if (is_given(*option, ours)) origins_[option->get_name()] = "command line";
  }
  std::error_code ignored;
  ProjectFile file = find_project_file(std::filesystem::current_path(ignored).string());
  if (!file.error.empty() || file.path.empty()) return file.error;
  // What this command starts, duress classify for a test case for example, gets its options from this
  // command.
  setenv("DURESS_CONFIG", "none", 1);
  return project_words(file, ours);
}

void CommandApp::print_origins() const {
  for (const CLI::Option* option : app_->get_options()) {
    if (option->get_lnames().empty() || option->get_name() == "--help" || option->get_group().empty())
      continue;
    auto origin = origins_.find(option->get_name());
    std::string value = option->count() == 0 ? "" : fmt::format("{}", fmt::join(option->results(), " "));
    fmt::print("{:<24}{:<24}{}\n", "--" + option->get_lnames()[0], value.empty() ? "-" : value,
               origin == origins_.end() ? "default" : origin->second);
  }
}

void only_print_origins() {
  g_only_origins = true;
}

template <class Parse>
std::optional<int> CommandApp::guarded(const Arguments& words, const std::string& rest, Parse parse) {
  if (std::string error = flag_value(*app_, words); !error.empty()) return wrong_use(command(), error);
  try {
    parse();
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_text(*app_, rest));
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    std::string unknown = unknown_option(*app_, words);  // says more than what is missing then
    return wrong_use(command(), unknown.empty() ? message_of(error) : unknown);
  }
  if (!g_only_origins) return std::nullopt;
  print_origins();
  return kExitOk;
}

std::optional<int> CommandApp::read(const Arguments& arguments) {
  Arguments ours = arguments;
  if (std::string error = with_project(ours); !error.empty()) {
    say_plain(error);
    return kExitWrongUse;
  }
  return guarded(ours, "", [&] {
    Arguments words(ours.rbegin(), ours.rend());  // CLI11 takes arguments from the back
    for (std::string& word : words) {
      if (auto meaning = bare_.find(word); meaning != bare_.end()) word += "=" + meaning->second;
    }
    app_->parse(words);
  });
}

std::optional<int> CommandApp::read_before_mark(const Arguments& arguments,
                                                std::vector<std::string>& target) {
  auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end()) target.assign(mark + 1, arguments.end());
  std::optional<int> code = read({arguments.begin(), mark});
  return code ? code : check_program(target);
}

std::optional<int> CommandApp::read_with_target(const Arguments& arguments, std::vector<std::string>& target,
                                                const std::string& rest, bool required) {
  app_->prefix_command();
  auto mark = std::find(arguments.begin(), arguments.end(), "--");
  Arguments ours(arguments.begin(), mark);
  if (std::string error = with_project(ours); !error.empty()) {
    say_plain(error);
    return kExitWrongUse;
  }
  ours.insert(ours.end(), mark, arguments.end());
  std::optional<int> code =
      guarded(ours, rest, [&] { target = parse_with_target(*app_, ours, bare_, loose_); });
  if (code) return code;
  if (!required || (!target.empty() && !target[0].empty())) return check_program(target);
  return reject("no program given; put it and its arguments after --");
}

std::optional<int> CommandApp::reject(const std::string& error) const {
  if (error.empty()) return std::nullopt;
  return wrong_use(command(), error);
}

void pass_on_listing(const std::vector<std::string>& target) {
  auto lists = [](const std::string& word) {
    return word == "--gtest_list_tests" || word == "--gtest_list_tests=1" ||
           word == "--gtest_list_tests=true";
  };
  if (target.empty() || std::none_of(target.begin() + 1, target.end(), lists)) return;
  std::vector<char*> words = exec_words(target);
  unsetenv("DURESS_OPTIONS");
  execvp(words[0], words.data());  // if this fails, starting it as usual reports why
}

}  // namespace duress::cli
