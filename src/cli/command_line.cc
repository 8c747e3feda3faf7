// SPDX-License-Identifier: Apache-2.0
//
// Arguments before `--` are duress's own, those after it the program's. Without a `--` the first argument
// that is not an option starts the program, because that is what people type; an unknown option is then an
// error and never taken for a program.
#include "cli/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "catalog/lookup.h"
#include "report/path.h"

namespace duress::cli {

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

std::string help_text(const CLI::App& app, const std::string& rest) {
  std::string text = app.help();
  std::size_t usage = text.find("[OPTIONS]");
  if (usage != std::string::npos && !rest.empty()) text.insert(usage + 9, " " + rest);
  return text;
}

void say_plain(const std::string& text) {
  fmt::print(stderr, "{}\n", report::printable(text));
}

void say(const std::string& text) {
  say_plain("duress: " + text);
}

int wrong_use(const std::string& command, const std::string& text) {
  say(fmt::format("{}; see duress {}--help", text, command.empty() ? "" : command + " "));
  return kExitWrongUse;
}

std::string report_path(const std::string& path) {
  std::error_code ignored;
  return report::shown_path(path, std::filesystem::current_path(ignored).string());
}

}  // namespace duress::cli
