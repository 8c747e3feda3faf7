// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "repair/advice.h"

namespace duress::repair {
namespace {

namespace fs = std::filesystem;

class ApplyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "apply_test_" + std::to_string(getpid());
    fs::create_directories(folder_);
    for (const char* name : {"a.cc", "b.cc"}) write(name, "int x;\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) { std::ofstream(path(name)) << text; }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  Advice both() const {
    Advice advice;
    for (const char* name : {"a.cc", "b.cc"}) {
      FileEdit edit = *open_for_edit(path(name));
      edit.after = {"long x;"};
      advice.edits.push_back(edit);
    }
    return advice;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  std::string folder_;
};

TEST_F(ApplyTest, AllFilesChangeAndNothingIsLeft) {
  ASSERT_EQ(chmod(path("a.cc").c_str(), 0750), 0);
  EXPECT_EQ(apply_advice(both()), "");
  EXPECT_EQ(read("a.cc") + read("b.cc"), "long x;\nlong x;\n");
  struct stat info{};
  ASSERT_EQ(stat(path("a.cc").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0750u);
  EXPECT_EQ(files(), 2u);
}

TEST_F(ApplyTest, IfOneCannotBeWrittenNoneIs) {
  Advice advice = both();
  write("b.cc.new" + std::to_string(getpid()), "in the way");
  EXPECT_NE(apply_advice(advice).find("b.cc.new"), std::string::npos);
  EXPECT_EQ(read("a.cc") + read("b.cc"), "int x;\nint x;\n");
}

TEST_F(ApplyTest, AFileThatHasChangedSinceLeavesAllAlone) {
  Advice advice = both();
  write("b.cc", "int y;\n");
  EXPECT_NE(apply_advice(advice).find("has changed since"), std::string::npos);
  EXPECT_EQ(read("a.cc") + read("b.cc"), "int x;\nint y;\n");
}

TEST_F(ApplyTest, ALinkStaysALink) {
  fs::rename(path("a.cc"), path("real.cc"));
  fs::create_symlink("real.cc", path("a.cc"));
  EXPECT_EQ(apply_advice(both()), "");
  EXPECT_TRUE(fs::is_symlink(path("a.cc")));
  EXPECT_EQ(read("real.cc"), "long x;\n");
}

}  // namespace
}  // namespace duress::repair
