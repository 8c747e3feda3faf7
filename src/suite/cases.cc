// SPDX-License-Identifier: Apache-2.0
#include "suite/cases.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "exec/child.h"

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

}  // namespace duress::suite
