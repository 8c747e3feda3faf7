// SPDX-License-Identifier: Apache-2.0
//
// `duress config`: what .duress.toml says, and where the value of each option of a command comes from.
#include <fmt/format.h>

#include <filesystem>

#include "catalog/lookup.h"
#include "cli/command_app.h"

namespace duress::cli {
namespace {

void print_file(const ProjectFile& file) {
  if (file.path.empty()) {
    fmt::print("no .duress.toml here or above\n");
    return;
  }
  fmt::print("{}\n", file.path);
  for (const ProjectSetting& setting : file.settings)
    fmt::print("  {:<22}{:<24}line {:<5}{}\n", setting.key, fmt::format("{}", fmt::join(setting.values, " ")),
               setting.line, setting.command.empty() ? "every command" : setting.command);
}

}  // namespace

int config_command(const Arguments& arguments) {
  if (arguments.empty()) {
    std::error_code ignored;
    ProjectFile file = find_project_file(std::filesystem::current_path(ignored).string());
    if (!file.error.empty()) {
      say_plain(file.error);
      return kExitWrongUse;
    }
    print_file(file);
    return kExitOk;
  }
  if (arguments[0] == "-h" || arguments[0] == "--help") {
    fmt::print(
        "Usage: duress config [COMMAND [OPTIONS]]\n"
        "What .duress.toml in this folder or above says; with a command, the value of each of its options "
        "and where\n"
        "it comes from: the command line, the file and its line, or the default. DURESS_CONFIG names another "
        "file, or\n"
        "with 'none' none.\n");
    return kExitOk;
  }
  std::vector<std::string> known;
  for (const Command& command : commands()) {
    known.emplace_back(command.name);
    if (arguments[0] != command.name) continue;
    only_print_origins();
    return command.run({arguments.begin() + 1, arguments.end()});
  }
  return wrong_use("config", fmt::format("unknown command '{}'{}", arguments[0],
                                         catalog::nearest_hint(arguments[0], known)));
}

}  // namespace duress::cli
