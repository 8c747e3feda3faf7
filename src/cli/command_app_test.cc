// SPDX-License-Identifier: Apache-2.0
//
// Where options end and the program's arguments begin.
#include "cli/command_app.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace duress::cli {
namespace {

struct Parsed {
  std::string json;
  bool verbose = false;
  std::vector<std::string> target;
};

Parsed parse(const Arguments& arguments) {
  Parsed parsed;
  CLI::App app("test", "test");
  app.prefix_command();
  app.add_option("--json", parsed.json);
  app.add_flag("-v,--verbose", parsed.verbose);
  parsed.target = parse_with_target(app, arguments, {{"--json", "-"}}, {"--json"});
  return parsed;
}

using Words = std::vector<std::string>;

TEST(CommandLine, EverythingAfterTheMarkIsTheProgram) {
  Parsed parsed = parse({"-v", "--", "./a", "-v", "--json", "--", "x"});
  EXPECT_TRUE(parsed.verbose);
  EXPECT_EQ(parsed.json, "");
  EXPECT_EQ(parsed.target, (Words{"./a", "-v", "--json", "--", "x"}));
}

TEST(CommandLine, TheMarkMayBeLeftOut) {
  Parsed parsed = parse({"-v", "./a", "--json", "x"});
  EXPECT_EQ(parsed.target[0], "./a");
  EXPECT_EQ(parsed.target.back(), "x");
  EXPECT_EQ(parse({"./a", "--", "x"}).target, (Words{"./a", "--", "x"}));
}

TEST(CommandLine, BareJsonIsStdout) {
  EXPECT_EQ(parse({"--json", "--", "./a"}).json, "-");
  EXPECT_EQ(parse({"--json", "-v", "--", "./a"}).json, "-");
  EXPECT_EQ(parse({"--json=f", "--", "./a"}).json, "f");
  EXPECT_EQ(parse({"--json", "f", "--", "./a"}).json, "f");
}

TEST(CommandLine, AProgramIsNeverTakenForAFile) {
  Parsed parsed = parse({"--json", "./a"});
  EXPECT_EQ(parsed.json, "-");
  EXPECT_EQ(parsed.target, (Words{"./a"}));
}

TEST(CommandLine, UnknownOptionsAreErrorsWithTheNearestName) {
  try {
    parse({"--jsn", "--", "./a"});
    FAIL();
  } catch (const CLI::ParseError& error) {
    EXPECT_NE(std::string(error.what()).find("nearest: --json"), std::string::npos) << error.what();
  }
  EXPECT_THROW(parse({"-x", "./a"}), CLI::ParseError);
}

}  // namespace
}  // namespace duress::cli
