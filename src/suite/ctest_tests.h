// SPDX-License-Identifier: Apache-2.0
//
// The tests of a CMake build folder as CTest knows them, and the GoogleTest cases in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace duress::suite {

struct CtestTest {
  std::string name;
  std::vector<std::string> command;      // without a launcher that is duress itself; empty: not built
  std::string folder;                    // WORKING_DIRECTORY
  std::vector<std::string> environment;  // NAME=VALUE
  std::vector<std::string> setup, cleanup, required;  // fixtures
  std::vector<std::string> required_files;
  double timeout = 0;  // seconds; 0: none given
  bool disabled = false, will_fail = false, serial = false;
};

/// Which tests are wanted: the words are CTest's own, and so is their syntax.
struct CtestSelection {
  std::string build_dir, include, exclude, label, configuration;
};

/// Asks ctest. Nothing: `error` says why, in one line.
std::optional<std::vector<CtestTest>> ctest_tests(const CtestSelection& selection, std::string& error);

/// What `ctest --show-only=json-v1` printed. Nothing: it is not that.
std::optional<std::vector<CtestTest>> read_ctest(const std::string& json, const std::string& build_dir);

/// One thing to classify: a CTest test, or one GoogleTest case of it.
struct TestCase {
  std::string name;  // the test's, or Suite.Case
  std::string test;  // CTest's name
  std::vector<std::string> command;
};

/// The cases that a test consists of: those of GoogleTest, listed by the program itself (it is inert, so
/// listing them is silent and fast), or the test as a whole. `error`: why they could not be listed.
std::vector<TestCase> cases_of(const CtestTest& test, std::string& error);

/// Names in what --gtest_list_tests printed; those that GoogleTest would not run are left out.
std::vector<std::string> read_gtest_list(const std::string& text, bool disabled_too);

}  // namespace duress::suite
