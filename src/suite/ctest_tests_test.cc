// SPDX-License-Identifier: Apache-2.0
#include "suite/ctest_tests.h"

#include <gtest/gtest.h>

namespace duress::suite {
namespace {

TEST(CtestTestsTest, ReadsWhatCtestPrints) {
  auto tests = read_ctest(R"({"kind": "ctestInfo", "version": {"major": 1, "minor": 0}, "tests": [
    {"name": "a", "command": ["/b/a", "x y"], "properties": [
      {"name": "WORKING_DIRECTORY", "value": "/b/sub"}, {"name": "ENVIRONMENT", "value": ["A=1", "B=2"]},
      {"name": "ENVIRONMENT_MODIFICATION", "value": ["A=string_append:3", "C=path_list_prepend:/x", "C=path_list_append:/y"]},
      {"name": "TIMEOUT", "value": 30.0}, {"name": "RESOURCE_LOCK", "value": ["file"]}]},
    {"name": "b", "command": ["/usr/bin/duress", "run", "-q", "--", "/b/b", "--", "-v"],
     "properties": [{"name": "DISABLED", "value": true}, {"name": "WILL_FAIL", "value": true}]},
    {"name": "c"}]})",
                          "/b");
  ASSERT_TRUE(tests);
  ASSERT_EQ(tests->size(), 3u);
  const CtestTest& a = (*tests)[0];
  EXPECT_EQ(a.command, (std::vector<std::string>{"/b/a", "x y"}));
  EXPECT_EQ(a.folder, "/b/sub");
  EXPECT_EQ(a.environment, (std::vector<std::string>{"A=1", "B=2", "A=13", "C=/x", "C=/x:/y"}));
  EXPECT_EQ(a.timeout, 30);
  EXPECT_TRUE(a.serial);
  EXPECT_EQ((*tests)[1].command, (std::vector<std::string>{"/b/b", "--", "-v"}));
  EXPECT_TRUE((*tests)[1].disabled && (*tests)[1].will_fail);
  EXPECT_EQ((*tests)[1].folder, "/b");
  EXPECT_TRUE((*tests)[2].command.empty());
}

TEST(CtestTestsTest, OtherTextIsNotTaken) {
  for (const char* text : {"", "No tests were found!!!", "{}", "[]", R"({"kind": "other", "tests": []})",
                           R"({"kind": "ctestInfo", "tests": [{}]})",
                           R"({"kind": "ctestInfo", "tests": [{"name": "a", "properties": [{}]}]})"})
    EXPECT_FALSE(read_ctest(text, "/b")) << text;
}

TEST(CtestTestsTest, ReadsGoogleTestsList) {
  std::string text =
      "Running main() from gtest_main.cc\n"
      "Cache.\n  Evicts\n  DISABLED_Slow\n  Keeps\n"
      "Sizes/Queue.  # TypeParam = int\n  Pops/0  # GetParam() = 4\n  Pops/1  # GetParam() = a  # b\n"
      "DISABLED_Old.\n  Works\n"
      "a line of its own\n  indented\n";
  EXPECT_EQ(
      read_gtest_list(text, false),
      (std::vector<std::string>{"Cache.Evicts", "Cache.Keeps", "Sizes/Queue.Pops/0", "Sizes/Queue.Pops/1"}));
  EXPECT_EQ(read_gtest_list(text, true).size(), 6u);
  EXPECT_TRUE(read_gtest_list("", false).empty());
}

}  // namespace
}  // namespace duress::suite
