// SPDX-License-Identifier: Apache-2.0
#include "suite/ctest_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "exec/child.h"
#include "exec/files.h"

namespace duress::suite {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kListSeconds = 60;

std::vector<std::string> texts(const Json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  return value.is_array() ? value.get<std::vector<std::string>>() : std::vector<std::string>();
}

bool truth(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  return value.is_string() && (value == "1" || value == "ON" || value == "TRUE" || value == "True");
}

std::string value_of(const CtestTest& test, const std::string& name) {
  for (auto it = test.environment.rbegin(); it != test.environment.rend(); ++it) {
    if (it->rfind(name + "=", 0) == 0) return it->substr(name.size() + 1);
  }
  const char* ours = std::getenv(name.c_str());
  return ours != nullptr ? ours : "";
}

/// One entry of ENVIRONMENT_MODIFICATION: NAME=OPERATION:VALUE.
void modify(CtestTest& test, const std::string& entry) {
  std::size_t sign = entry.find('='), colon = entry.find(':', sign == std::string::npos ? 0 : sign);
  if (sign == std::string::npos || colon == std::string::npos) return;
  std::string name = entry.substr(0, sign), how = entry.substr(sign + 1, colon - sign - 1);
  std::string value = entry.substr(colon + 1), old = value_of(test, name);
  bool list = how.find("_list_") != std::string::npos;
  std::string between = old.empty() ? "" : list ? (how.rfind("path", 0) == 0 ? ":" : ";") : "";
  if (how == "set")
    test.environment.push_back(name + "=" + value);
  else if (how == "unset" || how == "reset")
    test.environment.push_back(name + "=");
  else if (how.ends_with("append"))
    test.environment.push_back(name + "=" + old + between + value);
  else if (how.ends_with("prepend"))
    test.environment.push_back(name + "=" + value + between + old);
}

void take_property(CtestTest& test, const std::string& name, const Json& value) {
  if (name == "WORKING_DIRECTORY")
    test.folder = value.get<std::string>();
  else if (name == "ENVIRONMENT")
    for (const std::string& entry : texts(value)) test.environment.push_back(entry);
  else if (name == "ENVIRONMENT_MODIFICATION")
    for (const std::string& entry : texts(value)) modify(test, entry);
  else if (name == "FIXTURES_SETUP")
    test.setup = texts(value);
  else if (name == "FIXTURES_CLEANUP")
    test.cleanup = texts(value);
  else if (name == "FIXTURES_REQUIRED")
    test.required = texts(value);
  else if (name == "REQUIRED_FILES")
    test.required_files = texts(value);
  else if (name == "TIMEOUT")
    test.timeout = value.is_number() ? value.get<double>() : 0;
  else if (name == "DISABLED")
    test.disabled = truth(value);
  else if (name == "WILL_FAIL")
    test.will_fail = truth(value);
  else if (name == "RUN_SERIAL")
    test.serial = test.serial || truth(value);
  else if (name == "RESOURCE_LOCK")
    test.serial = true;
}

/// A launcher that is duress itself would start us inside us.
void drop_launcher(std::vector<std::string>& command) {
  if (command.empty() || fs::path(command[0]).filename() != "duress") return;
  auto mark = std::find(command.begin(), command.end(), "--");
  if (mark != command.end()) command.erase(command.begin(), mark + 1);
}

/// Whether the program has GoogleTest in it, or loads it. Others must not be started to ask.
bool has_gtest(const std::string& program) {
  std::optional<std::string> bytes = exec::read_file(program);
  return bytes && (bytes->find("gtest_list_tests") != std::string::npos ||
                   bytes->find("libgtest.so") != std::string::npos);
}

bool names_one_case(const std::vector<std::string>& command, std::string& name) {
  for (const std::string& word : command) {
    if (word.rfind("--gtest_filter=", 0) == 0) name = word.substr(15);
  }
  return !name.empty() && name.find_first_of("*?:-") == std::string::npos;
}

}  // namespace

std::optional<std::vector<CtestTest>> read_ctest(const std::string& text, const std::string& build_dir) {
  std::vector<CtestTest> tests;
  try {
    Json json = Json::parse(text);
    if (json.at("kind") != "ctestInfo") return std::nullopt;
    for (const Json& entry : json.at("tests")) {
      CtestTest test;
      test.name = entry.at("name").get<std::string>();
      test.folder = build_dir;
      if (entry.contains("command")) test.command = texts(entry.at("command"));
      if (entry.contains("properties")) {
        for (const Json& property : entry.at("properties"))
          take_property(test, property.at("name").get<std::string>(), property.at("value"));
      }
      drop_launcher(test.command);
      tests.push_back(std::move(test));
    }
  } catch (const Json::exception&) {
    return std::nullopt;
  }
  return tests;
}

std::optional<std::vector<CtestTest>> ctest_tests(const CtestSelection& selection, std::string& error) {
  const std::string& dir = selection.build_dir;
  std::error_code code;
  if (!fs::is_directory(dir, code)) {
    error = fmt::format("'{}' is not a folder{}; give the build folder of a CMake project", dir,
                        code ? " that can be read: " + code.message() : "");
    return std::nullopt;
  }
  if (!fs::exists(fs::path(dir) / "CTestTestfile.cmake", code)) {
    error = fmt::format(
        "'{}' has no CTestTestfile.cmake; give a build folder whose project calls enable_testing()", dir);
    return std::nullopt;
  }
  if (exec::find_program("ctest").empty()) {
    error = "ctest is not installed; it comes with cmake";
    return std::nullopt;
  }
  exec::ChildStart start;
  start.argv = {"ctest", "--show-only=json-v1"};
  start.folder = dir;
  auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) start.argv.insert(start.argv.end(), {option, value});
  };
  add("-R", selection.include);
  add("-E", selection.exclude);
  add("-L", selection.label);
  add("-C", selection.configuration);
  exec::ChildOutput done = exec::run_child(start, kListSeconds);
  std::string folder = fs::absolute(dir).lexically_normal().string();
  std::optional<std::vector<CtestTest>> tests = read_ctest(done.output, folder);
  if (!tests) {
    std::string said = done.errors.substr(0, done.errors.find('\n'));
    error = fmt::format("ctest cannot list the tests of '{}'{}", dir,
                        said.empty() ? fmt::format(" (exit code {})", done.code) : ": " + said);
  }
  return tests;
}

std::vector<std::string> read_gtest_list(const std::string& text, bool disabled_too) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  std::string suite;
  for (std::string line; std::getline(lines, line);) {
    if (std::size_t remark = line.find("  # "); remark != std::string::npos) line.resize(remark);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
    if (line.empty()) continue;
    if (line[0] != ' ') {  // what main() itself prints does not end with a dot and is followed by no case
      suite = line.back() == '.' && line.find(' ') == std::string::npos ? line : "";
      continue;
    }
    if (suite.empty() || line.rfind("  ", 0) != 0 || line[2] == ' ') continue;
    std::string name = suite + line.substr(2);
    bool disabled = name.rfind("DISABLED_", 0) == 0 || name.find(".DISABLED_") != std::string::npos ||
                    name.find("/DISABLED_") != std::string::npos;
    if (!disabled || disabled_too) names.push_back(name);
  }
  return names;
}

std::vector<TestCase> cases_of(const CtestTest& test, std::string& error) {
  TestCase whole{test.name, test.name, test.command};
  if (!has_gtest(test.command[0])) return {whole};
  std::string one;
  if (names_one_case(test.command, one)) {
    whole.name = one;
    return {whole};
  }
  exec::ChildStart start;
  start.argv = test.command;
  start.argv.push_back("--gtest_list_tests");
  start.folder = test.folder;
  start.environment = test.environment;
  start.unset = {"DURESS_OPTIONS"};
  exec::ChildOutput listed = exec::run_child(start, kListSeconds);
  if (listed.code != 0) {
    error = fmt::format("{} does not list its cases (exit code {})", test.name, listed.code);
    return {whole};
  }
  auto is_also = [](const std::string& word) {
    return word.rfind("--gtest_also_run_disabled_tests", 0) == 0;
  };
  bool also = std::any_of(test.command.begin(), test.command.end(), is_also);
  std::vector<std::string> names = read_gtest_list(listed.output, also);
  if (names.empty()) return {whole};  // main() of its own, which does something else
  std::vector<TestCase> cases;
  for (const std::string& name : names) {
    TestCase one_case{name, test.name, test.command};
    std::erase_if(one_case.command,
                  [](const std::string& word) { return word.rfind("--gtest_filter=", 0) == 0; });
    one_case.command.push_back("--gtest_filter=" + name);
    cases.push_back(std::move(one_case));
  }
  return cases;
}

}  // namespace duress::suite
