// SPDX-License-Identifier: Apache-2.0
#include "cli/project_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "catalog/lookup.h"
#include "cli/commands.h"
#include "exec/files.h"
#include "exec/ownership.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = ".duress.toml";

/// One value as a word of the command line. False: a type that no option has.
bool add_value(const toml::node& node, ProjectSetting& setting) {
  if (const auto* text = node.as_string()) {
    setting.values.push_back(text->get());
  } else if (const auto* number = node.as_integer()) {
    setting.values.push_back(std::to_string(number->get()));
    setting.number = true;
  } else if (const auto* flag = node.as_boolean()) {
    setting.values.push_back(flag->get() ? "true" : "false");
    setting.flag = true;
  } else {
    return false;
  }
  return true;
}

/// "" or what is wrong.
std::string add_setting(const std::string& command, std::string_view key, const toml::node& node,
                        ProjectFile& file) {
  ProjectSetting setting;
  setting.command = command;
  setting.key = key;
  setting.line = node.source().begin.line;
  bool good = true;
  if (const toml::array* list = node.as_array()) {
    setting.list = true;
    for (const toml::node& one : *list) good = good && one.is_string() && add_value(one, setting);
  } else {
    good = add_value(node, setting);
  }
  if (!good)
    return fmt::format("{}: {} must be a text, a whole number, true, false or a list of texts",
                       file.place(setting), setting.key);
  file.settings.push_back(std::move(setting));
  return "";
}

}  // namespace

std::string ProjectFile::place(const ProjectSetting& setting) const {
  return fmt::format("{}:{}", path, setting.line);
}

ProjectFile read_project_file(const std::string& path, const std::string& text,
                              const std::vector<std::string>& known) {
  ProjectFile file;
  file.path = path;
  toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    file.error =
        fmt::format("{}:{}: {}", path, parsed.error().source().begin.line, parsed.error().description());
    return file;
  }
  for (const auto& [key, node] : parsed.table()) {
    const toml::table* table = node.as_table();
    std::string name(key.str());
    if (table == nullptr) {
      file.error = add_setting("", name, node, file);
    } else if (std::find(known.begin(), known.end(), name) == known.end()) {
      file.error = fmt::format("{}:{}: [{}] is not a command{}", path, node.source().begin.line, name,
                               catalog::nearest_hint(name, known));
    } else {
      for (const auto& [inner, value] : *table) {
        if (file.error.empty()) file.error = add_setting(name, inner.str(), value, file);
      }
    }
    if (!file.error.empty()) return file;
  }
  return file;
}

ProjectFile find_project_file(const std::string& folder) {
  std::string path;
  const char* chosen = std::getenv("DURESS_CONFIG");
  if (chosen != nullptr && *chosen != '\0') {
    if (std::string_view(chosen) == "none") return {};
    path = chosen;
  }
  std::error_code ignored;
  for (fs::path at = folder; path.empty() && !at.empty(); at = at.parent_path()) {
    if (fs::is_regular_file(at / kName, ignored)) path = (at / kName).string();
    if (at == at.root_path()) break;
  }
  if (path.empty()) return {};
  ProjectFile file;
  file.path = path;
  // It can name commands that are run (check), so it must be the user's own.
  if (!(file.error = exec::owner_problem(path)).empty()) return file;
  std::optional<std::string> text = exec::read_file(path);
  if (!text) {
    file.error = path + ": cannot be read";
    return file;
  }
  std::vector<std::string> known;
  for (const Command& command : commands()) known.emplace_back(command.name);
  return read_project_file(path, *text, known);
}

}  // namespace duress::cli
