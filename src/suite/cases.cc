// SPDX-License-Identifier: Apache-2.0
#include "suite/cases.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "exec/child.h"
#include "exec/files.h"

namespace duress::suite {

namespace fs = std::filesystem;

void add_cases(const CtestTest& test, std::vector<CaseResult>& cases, std::vector<std::string>& notes) {
  CaseResult result;
  result.test_case = {test.name, test.name, test.command};
  result.folder = test.folder;
  result.environment = test.environment;
  result.timeout = test.timeout;
  result.serial = test.serial;
  auto give_up = [&](CaseOutcome outcome, const std::string& why) {
    result.outcome = outcome;
    result.why = why;
    cases.push_back(result);
  };
  if (test.disabled) return give_up(CaseOutcome::kDisabled, "");
  if (test.command.empty()) return give_up(CaseOutcome::kNotBuilt, "it has no command");
  std::string& program = result.test_case.command[0];
  program = (fs::path(test.folder) / program).lexically_normal().string();
  std::error_code ignored;
  if (!fs::is_regular_file(program, ignored) || access(program.c_str(), X_OK) != 0)
    return give_up(CaseOutcome::kNotBuilt, fmt::format("'{}' is not there", program));
  if (!fs::is_directory(test.folder, ignored))
    return give_up(CaseOutcome::kNotBuilt, fmt::format("its folder '{}' is not there", test.folder));
  for (const std::string& file : test.required_files) {
    if (!fs::exists(file, ignored))
      return give_up(CaseOutcome::kNotBuilt, fmt::format("'{}' is not there", file));
  }
  if (test.will_fail) return give_up(CaseOutcome::kExpectsFailure, "it is WILL_FAIL");
  CtestTest absolute = test;
  absolute.command = result.test_case.command;
  std::string error;
  for (TestCase& one : cases_of(absolute, error)) {
    result.test_case = std::move(one);
    cases.push_back(result);
  }
  if (!error.empty()) notes.push_back(error);
}

void run_fixtures(const std::vector<CtestTest>& all, const std::vector<CtestTest>& chosen, bool before,
                  const std::atomic<bool>& stop, std::vector<std::string>& notes) {
  std::set<std::string> wanted;
  for (const CtestTest& test : chosen) wanted.insert(test.required.begin(), test.required.end());
  for (const CtestTest& test : all) {
    const std::vector<std::string>& names = before ? test.setup : test.cleanup;
    bool needed =
        std::any_of(names.begin(), names.end(), [&](const auto& name) { return wanted.count(name) != 0; });
    if (!needed || test.disabled || test.command.empty() || stop) continue;
    exec::ChildStart start;
    start.argv = test.command;
    start.folder = test.folder;
    start.environment = test.environment;
    start.unset = {"DURESS_OPTIONS"};
    exec::ChildOutput done = exec::run_child(start, test.timeout > 0 ? test.timeout : 1500);
    if (done.code != 0)
      notes.push_back(fmt::format("the fixture {} ended with code {}", test.name, done.code));
  }
}

std::string outcomes_text(const std::vector<CaseResult>& cases) {
  static const std::pair<CaseOutcome, const char*> kinds[] = {
      {CaseOutcome::kFails, "fail anyway"},        {CaseOutcome::kNotInstrumented, "not instrumented"},
      {CaseOutcome::kNotBuilt, "not built"},       {CaseOutcome::kDisabled, "disabled"},
      {CaseOutcome::kExpectsFailure, "WILL_FAIL"}, {CaseOutcome::kError, "could not be run"},
      {CaseOutcome::kOpen, "not finished"}};
  std::string text;
  for (const auto& [kind, words] : kinds) {
    auto is_it = [wanted = kind](const CaseResult& result) { return result.outcome == wanted; };
    if (auto n = std::count_if(cases.begin(), cases.end(), is_it); n != 0)
      text += fmt::format(", {} {}", n, words);
  }
  return text;
}

namespace {

/// The number in the variable; nothing: it is not set. False: it is not a number.
bool number_in(const char* name, std::optional<std::uint64_t>& number) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return true;
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc() || *end != '\0') return false;
  number = value;
  return true;
}

}  // namespace

std::string keep_shard(std::vector<CaseResult>& cases) {
  for (const std::string prefix : {"GTEST_", "TEST_"}) {
    std::optional<std::uint64_t> total, index;
    std::string total_name = prefix + "TOTAL_SHARDS", index_name = prefix + "SHARD_INDEX";
    if (!number_in(total_name.c_str(), total) || !number_in(index_name.c_str(), index) ||
        total.has_value() != index.has_value() || (total && (*total == 0 || *index >= *total)))
      return total_name + " and " + index_name + " must be two numbers, the second below the first";
    if (!total) continue;
    if (const char* status = std::getenv("TEST_SHARD_STATUS_FILE")) exec::write_file(status, "");
    std::vector<CaseResult> kept;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (i % *total == *index) kept.push_back(std::move(cases[i]));
    }
    cases = std::move(kept);
    for (const char* one :
         {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX"})
      unsetenv(one);
    return "";
  }
  return "";
}

}  // namespace duress::suite
