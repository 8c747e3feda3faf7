// SPDX-License-Identifier: Apache-2.0
#include "cli/tsan_options.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/command_app.h"
#include "cli/run_options.h"

namespace duress::cli {
namespace {

/// What `duress run` makes of TSAN_OPTIONS; "" or what is wrong in `error`.
RunOptions run_with(const char* tsan, const Arguments& words = {}, std::string* error = nullptr) {
  setenv("TSAN_OPTIONS", tsan, 1);
  setenv("DURESS_CONFIG", "none", 1);
  RunOptions options;
  CommandApp app("run", "");
  options.add_suppressions(app);
  options.add_gate(app, "race", "");
  options.add_screen(app, "", "");
  app.add_flag("--halt", options.halt);
  app.add_option("--exit-wait", options.exit_wait);
  EXPECT_FALSE(app.read(words));
  std::string wrong = use_tsan_options(app, options);
  if (error != nullptr)
    *error = wrong;
  else
    EXPECT_EQ(wrong, "");
  unsetenv("TSAN_OPTIONS");
  return options;
}

std::string error_with(const char* tsan) {
  std::string error;
  run_with(tsan, {}, &error);
  return error;
}

TEST(TsanOptionsTest, ReadsAsThreadSanitizerDoes) {
  TsanOptions options("a=1:b='x y:z' ,c=\"/q/r\"\n\ta=2 flag d=");
  EXPECT_EQ(options.take("a"), "2");
  EXPECT_EQ(options.take("b"), "x y:z");
  EXPECT_EQ(options.take("c"), "/q/r");
  EXPECT_EQ(options.take("d"), "");
  EXPECT_EQ(options.take("e"), std::nullopt);
  EXPECT_EQ(options.rest(), (std::vector<std::string>{"flag"}));
  EXPECT_TRUE(TsanOptions("").rest().empty());
  EXPECT_TRUE(TsanOptions(" ::,").rest().empty());
  EXPECT_EQ(TsanOptions("k='never closed").take("k"), "never closed");
}

TEST(TsanOptionsTest, WhatHasAMeaning) {
  RunOptions options = run_with(
      "suppressions=known.txt halt_on_error=1 exitcode=3 atexit_sleep_ms=250 color=always history_size=7");
  EXPECT_EQ(options.suppressions, (std::vector<std::string>{"known.txt"}));
  EXPECT_TRUE(options.halt);
  EXPECT_EQ(options.findings_code, 3);
  EXPECT_EQ(options.fail_on, "race");
  EXPECT_EQ(options.exit_wait, "250ms");
  EXPECT_EQ(options.color, "always");
  EXPECT_EQ(run_with("exitcode=0").fail_on, "never");
  EXPECT_EQ(run_with("atexit_sleep_ms=0").exit_wait, "0");
  EXPECT_EQ(run_with("").findings_code, kExitFindings);
}

TEST(TsanOptionsTest, OptionsOfDuressWin) {
  RunOptions options =
      run_with("suppressions=a halt_on_error=0 exitcode=0 atexit_sleep_ms=250 color=never",
               {"--suppressions=b", "--halt", "--fail-on=race", "--exit-wait=1s", "--color=always"});
  EXPECT_EQ(options.suppressions, (std::vector<std::string>{"b"}));
  EXPECT_TRUE(options.halt);
  EXPECT_EQ(options.fail_on, "race");
  EXPECT_EQ(options.exit_wait, "1s");
  EXPECT_EQ(options.color, "always");
}

TEST(TsanOptionsTest, WrongValuesAreNamed) {
  EXPECT_EQ(error_with("exitcode=256"), "TSAN_OPTIONS: exitcode=256 must be a number from 0 to 255");
  EXPECT_EQ(error_with("exitcode=-1"), "TSAN_OPTIONS: exitcode=-1 must be a number from 0 to 255");
  EXPECT_EQ(error_with("halt_on_error=maybe"), "TSAN_OPTIONS: halt_on_error=maybe must be 0 or 1");
  EXPECT_EQ(error_with("color=red"), "TSAN_OPTIONS: color=red must be auto, always or never");
  EXPECT_EQ(error_with("atexit_sleep_ms="),
            "TSAN_OPTIONS: atexit_sleep_ms= must be a number from 0 to 999999999");
}

}  // namespace
}  // namespace duress::cli
