// SPDX-License-Identifier: Apache-2.0
#include "report/source_paths.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "report/path.h"

namespace duress::report {
namespace {

namespace fs = std::filesystem;

class SourcePathsTest : public testing::Test {
 protected:
  SourcePathsTest() {
    char name[] = "/tmp/duress-sources-XXXXXX";
    root_ = mkdtemp(name);
    for (const char* file : {"src/net/a.cc", "src/net/a.h", "src/main.cc"}) write(file, "");
    fs::create_directories(root_ / "build");
  }
  ~SourcePathsTest() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void write_commands(const std::string& where) {
    std::string build = (root_ / "build").string(), src = (root_ / "src").string();
    write(where, R"([{"directory":")" + build + R"(","file":")" + src + R"(/net/a.cc","command":"cc"},
                     {"directory":")" +
                     build + R"(","file":"../src/main.cc","command":"cc"}])");
  }
  std::string found(const std::string& path, const std::string& below = "") {
    return fs::path(SourcePaths((root_ / below).string()).find(path)).lexically_proximate(root_).string();
  }

  fs::path root_;
};

TEST_F(SourcePathsTest, PathsOfAnotherMachineAndRelativeOnesAreFound) {
  write_commands("build/compile_commands.json");
  EXPECT_EQ(found("/elsewhere/project/src/net/a.cc"), "src/net/a.cc");
  EXPECT_EQ(found("/elsewhere/project/src/net/a.h"), "src/net/a.h");  // no command names it
  EXPECT_EQ(found("../src/main.cc"), "src/main.cc");
  EXPECT_EQ(found("net/a.cc"), "src/net/a.cc");
  EXPECT_EQ(found("/elsewhere/net/a.cc", "src/net"), "src/net/a.cc");  // looked for upwards
}

TEST_F(SourcePathsTest, ANameAloneIsNotEnough) {
  write_commands("compile_commands.json");
  EXPECT_EQ(SourcePaths(root_.string()).find("/elsewhere/main.cc"), "/elsewhere/main.cc");
  EXPECT_EQ(SourcePaths(root_.string()).find("/elsewhere/src/other.cc"), "/elsewhere/src/other.cc");
}

TEST_F(SourcePathsTest, WhatExistsStaysAndBadFilesChangeNothing) {
  write("compile_commands.json", "[{\"directory\": 7, \"file\": []}, null, \"x\"]");
  EXPECT_EQ(SourcePaths(root_.string()).find("/elsewhere/src/net/a.cc"), "/elsewhere/src/net/a.cc");
  write("compile_commands.json", "{");
  EXPECT_EQ(SourcePaths(root_.string()).find("/elsewhere/src/net/a.cc"), "/elsewhere/src/net/a.cc");
  write_commands("compile_commands.json");
  std::string own = (root_ / "src/main.cc").string();
  EXPECT_EQ(SourcePaths(root_.string()).find(own), own);
}

TEST_F(SourcePathsTest, ReportsShowThem) {
  write_commands("compile_commands.json");
  EXPECT_EQ(shown_path("/elsewhere/project/src/net/a.cc", root_.string()), "src/net/a.cc");
}

}  // namespace
}  // namespace duress::report
