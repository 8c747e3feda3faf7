// SPDX-License-Identifier: Apache-2.0
#include "exec/work_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "exec/testing/folder_test.h"

namespace duress::exec {
namespace {

namespace fs = std::filesystem;

class WorkFolderTest : public testing::FolderTest {
 protected:
  std::string all() const { return folder_ + "/work"; }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(all()), fs::directory_iterator()));
  }
};

TEST_F(WorkFolderTest, NothingIsLeft) {
  {
    WorkFolder work(folder_);
    ASSERT_EQ(work.error(), "");
    EXPECT_TRUE(fs::is_directory(work.path()));
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(WorkFolderTest, OfAKilledProcessIsRemoved) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    WorkFolder work(folder_);
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const std::string theirs = all() + "/" + std::to_string(child);
  std::optional<WorkFolder> work(folder_);
  EXPECT_TRUE(fs::is_directory(theirs)) << "its owner lives";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  work.reset();
  work.emplace(folder_);
  EXPECT_FALSE(fs::exists(theirs));
  EXPECT_EQ(entries(), 2U) << "our folder and its lock";
}

/// As if a process of another container had the same number.
TEST_F(WorkFolderTest, ANameThatIsTakenIsLeftAlone) {
  const std::string theirs = all() + "/" + std::to_string(getpid());
  fs::create_directories(theirs);
  Descriptor lock(open((theirs + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
  WorkFolder work(folder_);
  ASSERT_EQ(work.error(), "");
  EXPECT_NE(work.path(), theirs);
  EXPECT_TRUE(fs::is_directory(work.path()));
  EXPECT_TRUE(fs::is_directory(theirs));
}

}  // namespace
}  // namespace duress::exec
