// SPDX-License-Identifier: Apache-2.0
#include "exec/store.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "exec/files.h"
#include "exec/testing/folder_test.h"
#include "exec/token_text.h"

namespace duress::exec {
namespace {

class StoreTest : public testing::FolderTest {
 protected:
};

TEST_F(StoreTest, FindingsComeBack) {
  Store store(folder_ + "/new");
  StoredFinding finding;
  finding.identity = std::string("a\0b", 3);
  finding.id = store.free_id(finding.identity);
  finding.failure = "deadlock";
  finding.target = {"./prog", "an arg", "\xff"};
  finding.token = "D1.prog.abc";
  finding.oracle.check = "grep x";
  ASSERT_TRUE(is_failure_id(finding.id)) << finding.id;
  ASSERT_EQ(store.save(finding), "");
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/new/.gitignore"));
  std::string error;
  std::optional<StoredFinding> back = store.load(finding.id, error);
  ASSERT_TRUE(back) << error;
  EXPECT_EQ(back->failure, "deadlock");
  EXPECT_EQ(back->target[1], "an arg");
  EXPECT_EQ(back->token, "D1.prog.abc");
  EXPECT_EQ(back->oracle.check, "grep x");
  EXPECT_EQ(store.free_id(finding.identity), finding.id);  // the same failure keeps it
}

TEST_F(StoreTest, LongTokensAndInputGetFiles) {
  Store store(folder_);
  write_file(folder_ + "/input", "some words");
  StoredFinding finding;
  finding.id = "F-0001";
  finding.target = {"./prog"};
  finding.token = "D1.prog." + std::string(1000, 'A');
  finding.input = folder_ + "/input";
  ASSERT_EQ(store.save(finding), "");
  EXPECT_EQ(finding.token, "@" + folder_ + "/trails/F-0001.trail");
  EXPECT_EQ(read_file(finding.input), "some words");
  EXPECT_NE(finding.input, folder_ + "/input");
}

TEST_F(StoreTest, WhatIsMissingOrDamagedIsSaid) {
  Store store(folder_);
  std::string error;
  EXPECT_FALSE(store.load("F-1234", error));
  EXPECT_NE(error.find("no recording of F-1234"), std::string::npos);
  std::filesystem::create_directories(folder_ + "/findings");
  for (const char* text : {"", "{", "[]", "{\"version\":1}", "{\"version\":2,\"id\":\"F-1234\"}"}) {
    write_file(folder_ + "/findings/F-1234.json", text);
    EXPECT_FALSE(store.load("F-1234", error)) << text;
  }
}

TEST(FailureIds, Shape) {
  EXPECT_TRUE(is_failure_id("F-12ab"));
  EXPECT_TRUE(is_failure_id("R-12ab"));  // a race that was classified
  for (const char* text : {"F-", "F-12", "F-12aB", "X-12ab", "F-12ab/../x", "D1.a.b", ""})
    EXPECT_FALSE(is_failure_id(text));
}

}  // namespace
}  // namespace duress::exec
