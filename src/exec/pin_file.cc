// SPDX-License-Identifier: Apache-2.0
#include "exec/pin_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "exec/files.h"
#include "exec/layout.h"

namespace duress::exec {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kPinsFile =
    R"(# Made by `duress pin`: a test for each finding in this folder. duress may be given as DURESS in the environment.
file(GLOB _duress_pins "${CMAKE_CURRENT_LIST_DIR}/[RF]-*.sh")
foreach(_duress_pin ${_duress_pins})
  get_filename_component(_duress_name "${_duress_pin}" NAME_WE)
  add_test(NAME "duress.${_duress_name}" COMMAND "${_duress_pin}")
endforeach()
)";
constexpr const char* kListsFile =
    R"(# Made by `duress pin`. As part of a project: add_subdirectory() of this folder.
if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  cmake_minimum_required(VERSION 3.16)
  project(pins NONE)
  enable_testing()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/pins.cmake")
)";
// `ctest --test-dir DIR` needs no build folder. While ctest reads this file, CMake's variables are not set.
constexpr const char* kCtestHead = "# Made by `duress pin`, so that ctest can be started in this folder.\n";
constexpr const char* kScript = R"(#!/bin/sh
# Made by `duress pin`. {summary}
# {expectation} PROG ARGS after -- run another program than the recorded one.
duress=${{DURESS:-duress}}
command -v "$duress" > /dev/null || duress={duress}
exec "$duress" pin --run "$(dirname "$0")/{id}.json" "$@"
)";

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string one_line(std::string text) {
  for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return text;
}

/// The members of ID.json, for reading and writing: visit(name, member, whether it must be there).
template <typename SomePin, typename Visit>
void each_member(SomePin& pin, Visit visit) {
  auto& finding = pin.finding;
  visit("id", finding.id, true);
  visit("expect", pin.expect, true);
  visit("failure", finding.failure, true);
  visit("text", finding.text, true);
  visit("failure_id", finding.failure_id, true);
  visit("target", finding.target, true);
  visit("folder", finding.folder, true);
  visit("environment", finding.environment, false);
  visit("input", finding.input, true);
  visit("check", finding.oracle.check, true);
  visit("expect_exit", finding.oracle.expect_exit, true);
  visit("expected_output", finding.oracle.expected_output, true);
  visit("wrong_output", finding.oracle.wrong_output, true);
  visit("strategy", finding.strategy, true);
  visit("seed", finding.seed, true);
  visit("runs", pin.runs, true);
  visit("replay", finding.token, true);
}

std::string write_finding(const Pin& pin, const fs::path& folder) {
  const StoredFinding& finding = pin.finding;
  Pin kept = pin;  // paths as they are seen from the folder
  kept.finding.folder = seen_from(folder, finding.folder);
  if (!finding.input.empty()) kept.finding.input = finding.id + ".stdin";
  if (!finding.oracle.expected_output.empty()) kept.finding.oracle.expected_output = finding.id + ".expected";
  Json json;
  json["pin"] = kVersion;
  each_member(kept, [&](const char* name, const auto& member, bool) { json[name] = member; });
  json["place"] = fmt::format("{}:{}:{}", finding.file, finding.line, finding.column);
  std::string base = (folder / finding.id).string();
  for (auto [from, suffix] :
       {std::pair{finding.input, ".stdin"}, std::pair{finding.oracle.expected_output, ".expected"}}) {
    if (from.empty()) continue;
    std::optional<std::string> text = read_file(from);
    if (!text) return fmt::format("cannot read '{}': {}", from, std::strerror(errno));
    if (std::string error = write_file(base + suffix, *text); !error.empty()) return error;
  }
  return write_file(base + ".json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string make_script(const Pin& pin, const fs::path& folder) {
  const StoredFinding& finding = pin.finding;
  std::string expectation = pin.expect == "fails"
                                ? "Passes as long as that execution fails this way."
                                : "Passes if that execution no longer fails, nor one like it is found.";
  std::string script = fmt::format(
      fmt::runtime(kScript), fmt::arg("summary", one_line(fmt::format("{}: {}", finding.id, finding.text))),
      fmt::arg("expectation", expectation), fmt::arg("duress", shell_quoted(layout().bin + "/duress")),
      fmt::arg("id", finding.id));
  std::string path = (folder / (finding.id + ".sh")).string();
  if (std::string error = write_file(path, script); !error.empty()) return error;
  if (chmod(path.c_str(), 0755) != 0)
    return fmt::format("cannot make '{}' executable: {}", path, std::strerror(errno));
  return {};
}

/// Lists every pin of the folder, unless the file there was not made by duress.
std::string list_for_ctest(const fs::path& folder) {
  std::string path = (folder / "CTestTestfile.cmake").string();
  if (std::optional<std::string> there = read_file(path); there && there->rfind(kCtestHead, 0) != 0)
    return {};
  std::set<std::string> ids;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::string id = it->path().stem().string();
    if (it->path().extension() == ".sh" && is_failure_id(id)) ids.insert(id);
  }
  std::string text = kCtestHead;
  for (const std::string& id : ids) text += fmt::format("add_test(\"duress.{}\" \"./{}.sh\")\n", id, id);
  return write_file(path, text);
}

}  // namespace

std::string seen_from(const fs::path& folder, const std::string& path) {
  std::error_code error;
  fs::path relative = fs::relative(path, folder, error);
  return error || relative.empty() ? path : relative.string();
}

std::string write_pin(const Pin& pin, const fs::path& folder) {
  std::string error = write_finding(pin, folder);
  if (error.empty()) error = make_script(pin, folder);
  if (error.empty()) error = write_file((folder / "pins.cmake").string(), kPinsFile);
  if (error.empty() && !fs::exists(folder / "CMakeLists.txt"))
    error = write_file((folder / "CMakeLists.txt").string(), kListsFile);
  return error.empty() ? list_for_ctest(folder) : error;
}

std::optional<Pin> read_pin(const std::string& path, std::string& error) {
  std::optional<std::string> text = read_file(path);
  if (!text) {
    error = fmt::format("cannot read '{}': {}", path, std::strerror(errno));
    return std::nullopt;
  }
  fs::path folder = fs::absolute(path).lexically_normal().parent_path();
  try {
    Json json = Json::parse(*text);
    Pin pin;
    StoredFinding& finding = pin.finding;
    if (json.at("pin") != kVersion) {
      error = fmt::format("'{}' was written by another version of duress; pin it again", path);
      return std::nullopt;
    }
    each_member(pin, [&](const char* name, auto& member, bool needed) {
      if (needed || json.contains(name)) json.at(name).get_to(member);
    });
    finding.folder = (folder / finding.folder).lexically_normal().string();
    for (std::string* file : {&finding.input, &finding.oracle.expected_output}) {
      if (!file->empty()) *file = (folder / *file).string();
    }
    if (is_failure_id(finding.id) && !finding.target.empty()) return pin;
  } catch (const Json::exception&) {
  }
  error = fmt::format("'{}' is not a file of duress pin", path);
  return std::nullopt;
}

}  // namespace duress::exec
