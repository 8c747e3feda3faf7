// SPDX-License-Identifier: Apache-2.0
#include "cli/gate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace duress::cli {
namespace {

/// A baseline of this text.
struct File {
  explicit File(const std::string& text) {
    path = ::testing::TempDir() + "gate_test_" + std::to_string(getpid()) + ".json";
    std::ofstream(path) << text;
  }
  ~File() { unlink(path.c_str()); }
  std::string path;
};

Baseline baseline() {
  Baseline result;
  File file(R"({"schema": "duress/1",
    "races": [{"id": "R-0001", "verdict": "destructive"}, {"id": "R-0002", "verdict": "no-harm-found"},
              {"id": "R-0003"}, {"id": "R-00045678", "verdict": "destructive"}],
    "failures": [{"id": "F-0005"}]})");
  EXPECT_EQ(result.load(file.path), "");
  return result;
}

TEST(GateTest, WithoutBaselineEverythingIsNew) {
  Baseline none;
  EXPECT_TRUE(fails("destructive", none, {"R-0001", true}));
  EXPECT_FALSE(fails("destructive", none, {"R-0001", false}));
  EXPECT_TRUE(fails("new-destructive", none, {"R-0001", true}));
  EXPECT_TRUE(fails("race", none, {"R-0001", false}));
  EXPECT_FALSE(fails("never", none, {"R-0001", true}));
}

TEST(GateTest, WhatIsInTheBaselineDoesNotCount) {
  Baseline known = baseline();
  EXPECT_FALSE(fails("destructive", known, {"R-0001", true}));
  EXPECT_FALSE(fails("race", known, {"R-0002", false}));
  EXPECT_FALSE(fails("race", known, {"F-0005", true}));
  EXPECT_TRUE(fails("destructive", known, {"R-9999", true}));
  EXPECT_TRUE(fails("race", known, {"R-9999", false}));
}

TEST(GateTest, ARaceThatHasBecomeDestructiveIsNewDestructive) {
  Baseline known = baseline();
  EXPECT_FALSE(fails("new-destructive", known, {"R-0001", true}));
  EXPECT_TRUE(fails("new-destructive", known, {"R-0002", true}));
  EXPECT_FALSE(fails("new-destructive", known, {"R-0003", true}));  // `duress run` gives no verdicts
  EXPECT_TRUE(fails("new-destructive", known, {"R-9999", true}));
  EXPECT_FALSE(fails("new-destructive", known, {"R-9999", false}));
}

TEST(GateTest, IdsMayBeCutToOtherLengths) {
  Baseline known = baseline();
  EXPECT_TRUE(known.knows("R-0004"));
  EXPECT_TRUE(known.knows("R-00011234"));
  EXPECT_FALSE(known.knows("R-00049999"));
}

TEST(GateTest, ABrokenFileIsSaidToBeOne) {
  Baseline broken;
  EXPECT_NE(broken.load("/nowhere/at/all.json").find("No such file"), std::string::npos);
  for (const char* text :
       {"", "{", "[]", "{}", R"({"schema": "duress/2", "races": []})", R"({"schema": "duress/1"})",
        R"({"schema": "duress/1", "races": [{}]})", R"({"schema": "duress/1", "races": 7})",
        R"({"schema": "duress/1", "races": [], "failures": [1]})"}) {
    File file(text);
    EXPECT_NE(broken.load(file.path).find("is not a document that --json wrote"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace duress::cli
