// SPDX-License-Identifier: Apache-2.0
//
// `duress test`: classify for every test that CTest knows in a build folder. A GoogleTest program is split
// into its cases, each classified by itself: a race is then charged to the case in which it happened.
#include <fmt/format.h>

#include <algorithm>

#include "cli/stop.h"
#include "cli/test_options.h"
#include "cli/test_session.h"
#include "report/words.h"
#include "suite/cases.h"

namespace duress::cli {
namespace {

using report::count_text;

int execute(TestOptions& options) {
  std::string error;
  suite::CtestSelection everything{options.selection.build_dir, "", "", "", options.selection.configuration};
  std::optional<std::vector<suite::CtestTest>> chosen = suite::ctest_tests(options.selection, error);
  std::optional<std::vector<suite::CtestTest>> all;
  if (chosen) all = suite::ctest_tests(everything, error);
  if (!chosen || !all) return wrong_use("test", error);
  if (all->empty())
    return wrong_use("test", fmt::format("'{}' has no tests; add_test() or gtest_discover_tests() makes them",
                                         options.selection.build_dir));
  if (chosen->empty())
    return wrong_use("test", fmt::format("none of the {} of '{}' matches", count_text(all->size(), "test"),
                                         options.selection.build_dir));
  // Fixtures are run for the tests that need them, not classified.
  std::erase_if(*chosen,
                [](const suite::CtestTest& test) { return !test.setup.empty() || !test.cleanup.empty(); });
  catch_signals();
  std::vector<suite::CaseResult> cases;
  std::vector<std::string> notes;
  for (const suite::CtestTest& test : *chosen) suite::add_cases(test, cases, notes);
  if (std::string wrong = suite::keep_shard(cases); !wrong.empty()) return wrong_use("test", wrong);
  if (options.list) {
    for (const suite::CaseResult& result : cases) fmt::print("{}\n", result.test_case.name);
    return kExitOk;
  }
  suite::run_fixtures(*all, *chosen, true, stop_asked, notes);
  for (const std::string& note : notes) say(note);
  notes.clear();
  int code = run_test_session(options, std::move(cases));
  suite::run_fixtures(*all, *chosen, false, stop_asked, notes);
  for (const std::string& note : notes) say(note);
  return code;
}

}  // namespace

int test_command(const Arguments& arguments) {
  TestOptions options;
  if (std::optional<int> code = read_test_options(arguments, options)) return *code;
  return execute(options);
}

}  // namespace duress::cli
