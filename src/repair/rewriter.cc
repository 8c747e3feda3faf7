// SPDX-License-Identifier: Apache-2.0
#include "repair/rewriter.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "exec/child.h"
#include "exec/layout.h"
#include "repair/rebuild.h"

namespace duress::repair {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kMostSeconds = 120;

std::string program_of_rewriter() {
  for (const char* folder : {"/lib/duress/", "/" DURESS_LIBDIR "/duress/"}) {
    std::string path = exec::layout().prefix + folder + "duress-rewrite";
    if (fs::exists(path)) return path;
  }
  return "";
}

Json places_of(const std::vector<SourceChange::Place>& places) {
  Json list = Json::array();
  for (const SourceChange::Place& place : places)
    list.push_back(
        {{"file", place.frame.file}, {"line", place.frame.line}, {"name", name_in_source(place.name)}});
  return list;
}

Json request_of(const std::vector<Compilation>& units, const SourceChange& change) {
  Json all = Json::array();
  for (const Compilation& unit : units) {
    Json command = {unit.cxx ? "clang++" : "clang"};
    for (const std::string& word : unit.arguments) command.push_back(word);
    command.push_back("-idirafter");
    command.push_back(exec::layout().prefix + "/include");
    command.push_back(unit.file);
    all.push_back({{"directory", unit.directory}, {"file", unit.file}, {"command", command}});
  }
  Json edit = {{"kind", change.kind},
               {"mutex", change.mutex},
               {"places", places_of(change.places)},
               {"threads", places_of(change.threads)}};
  return {{"units", all}, {"edits", Json::array({edit})}};
}

}  // namespace

bool SourceChange::Place::operator<(const Place& other) const {
  return std::tie(frame.file, frame.line, name) < std::tie(other.frame.file, other.frame.line, other.name);
}

std::string name_in_source(const std::string& variable) {
  std::string name = variable.substr(0, variable.find('['));
  if (std::size_t colon = name.rfind("::"); colon != std::string::npos) name = name.substr(colon + 2);
  if (std::size_t dot = name.rfind('.'); dot != std::string::npos) name = name.substr(dot + 1);
  bool word = !name.empty() && (std::isdigit(static_cast<unsigned char>(name[0])) == 0);
  for (char c : name) word = word && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
  return word ? name : "";
}

std::vector<FileEdit> rewrite(const std::string& program, const SourceChange& change, std::string& error) {
  std::string rewriter = program_of_rewriter();
  if (rewriter.empty()) {
    error = "duress-rewrite is missing beside " + exec::layout().bin;
    return {};
  }
  for (const SourceChange::Place& place : change.places) {
    if (!name_in_source(place.name).empty()) continue;
    error = place.name + " has no name in the source";
    return {};
  }
  std::vector<Compilation> units = compilations_of(program);
  if (units.empty()) {
    error =
        "how " + program + " was compiled is not recorded; build it with duress-c++ and debug information";
    return {};
  }
  std::string request = request_of(units, change).dump(-1, ' ', false, Json::error_handler_t::replace);
  exec::ChildOutput ended = exec::run_child({.argv = {rewriter}}, kMostSeconds, request);
  Json answer = Json::parse(ended.output, nullptr, /*allow_exceptions=*/false);
  std::vector<FileEdit> edits;
  try {
    if (answer.contains("error")) {
      error = answer.at("error").get<std::string>();
      return {};
    }
    for (const Json& file : answer.at("files")) {
      std::optional<FileEdit> edit = open_for_edit(file.at("path").get<std::string>());
      if (!edit) continue;
      edit->after = split_lines(file.at("text").get<std::string>());
      if (edit->after != edit->before) edits.push_back(std::move(*edit));
    }
  } catch (const Json::exception&) {
    error = "duress-rewrite ended without an answer (code " + std::to_string(ended.code) + ")";
    return {};
  }
  if (edits.empty()) error = "nothing to change was found";
  return edits;
}

}  // namespace duress::repair
