// SPDX-License-Identifier: Apache-2.0
//
// On the test's own memory, and on a child that runs into one.
#include "collide/breakpoints.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace duress::collide {
namespace {

/// mov eax, [rdi]; add eax, 1; mov [rdi], eax; ret
constexpr unsigned char kCode[] = {0x8b, 0x07, 0x83, 0xc0, 0x01, 0x89, 0x07, 0xc3};
const std::string kAdd("\x83\xc0\x01", 3);

class BreakpointsTest : public testing::Test {
 protected:
  void SetUp() override {
    void* page = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    code_ = static_cast<unsigned char*>(page);
    std::memcpy(code_, kCode, sizeof kCode);
    ASSERT_EQ(mprotect(page, 8192, PROT_READ | PROT_EXEC), 0);  // written all the same
  }
  void TearDown() override { munmap(code_, 8192); }
  Address at(std::size_t offset) const { return reinterpret_cast<Address>(code_) + offset; }
  bool intact() const { return std::memcmp(code_, kCode, sizeof kCode) == 0; }

  unsigned char* code_ = nullptr;
  TargetMemory memory_{getpid()};
  Breakpoints breakpoints_{memory_};
};

TEST_F(BreakpointsTest, SetAndTakenAway) {
  ASSERT_TRUE(breakpoints_.arm(at(2), kAdd));
  EXPECT_EQ(code_[2], 0xcc);
  EXPECT_TRUE(breakpoints_.armed(at(2)));
  EXPECT_FALSE(breakpoints_.arm(at(2), kAdd));  // it is there
  EXPECT_FALSE(breakpoints_.late(at(2)));
  EXPECT_TRUE(breakpoints_.disarm(at(2)));
  EXPECT_TRUE(intact());
  EXPECT_TRUE(breakpoints_.late(at(2)));  // somebody may still come from there
  EXPECT_FALSE(breakpoints_.disarm(at(2)));
  EXPECT_FALSE(breakpoints_.late(at(0)));
}

TEST_F(BreakpointsTest, NotOnOtherBytes) {
  EXPECT_FALSE(breakpoints_.arm(at(2), std::string("\x83\xc0\x02", 3)));
  EXPECT_FALSE(breakpoints_.arm(at(2), ""));
  EXPECT_FALSE(breakpoints_.arm(0x10, kAdd));
  EXPECT_TRUE(intact());
  EXPECT_EQ(breakpoints_.count(), 0u);
}

TEST_F(BreakpointsTest, OtherCodeInItsPlaceIsLeftAlone) {
  ASSERT_TRUE(breakpoints_.arm(at(2), kAdd));
  const unsigned char other[] = {0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc};
  ASSERT_TRUE(memory_.write(at(0), other, sizeof other));
  EXPECT_FALSE(breakpoints_.disarm(at(2)));
  EXPECT_EQ(std::memcmp(code_, other, sizeof other), 0);
  EXPECT_FALSE(breakpoints_.late(at(2)));
}

TEST_F(BreakpointsTest, AllAtOnceAndForgotten) {
  ASSERT_TRUE(breakpoints_.arm(at(0), std::string("\x8b\x07", 2)));
  ASSERT_TRUE(breakpoints_.arm(at(2), kAdd));
  EXPECT_EQ(breakpoints_.count(), 2u);
  breakpoints_.disarm_all();
  EXPECT_TRUE(intact());
  EXPECT_EQ(breakpoints_.count(), 0u);
  ASSERT_TRUE(breakpoints_.arm(at(2), kAdd));
  breakpoints_.forget(at(0), at(8));
  EXPECT_EQ(breakpoints_.count(), 0u);
  EXPECT_EQ(code_[2], 0xcc);  // not mapped any more, as far as we know: not touched
}

/// A child that stands still, with a copy of this process's memory.
class Child {
 public:
  Child() {
    pid_ = fork();
    if (pid_ == 0) {
      for (;;) pause();
    }
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST_F(BreakpointsTest, CleanCopies) {
  ASSERT_TRUE(breakpoints_.arm(at(0), std::string("\x8b\x07", 2)));
  ASSERT_TRUE(breakpoints_.arm(at(2), kAdd));
  Child child;
  breakpoints_.disarm(at(0));  // the copy was made before
  TargetMemory copy(child.pid());
  breakpoints_.clean(copy);
  unsigned char bytes[sizeof kCode];
  ASSERT_EQ(copy.read(at(0), bytes, sizeof bytes), static_cast<long>(sizeof bytes));
  EXPECT_EQ(std::memcmp(bytes, kCode, sizeof kCode), 0);
  EXPECT_EQ(code_[2], 0xcc);  // ours stays
  EXPECT_TRUE(breakpoints_.armed(at(2)));
}

TEST_F(BreakpointsTest, AThreadThatRanIntoItRunsTheInstruction) {
  pid_t child = fork();
  if (child == 0) {
    int value = 41;
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    void (*function)(int*);
    std::memcpy(&function, &code_, sizeof function);
    function(&value);
    _exit(value);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  TargetMemory memory(child);
  Breakpoints breakpoints(memory);
  ASSERT_TRUE(breakpoints.arm(at(2), kAdd));
  ptrace(PTRACE_CONT, child, 0, 0);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
  user_regs_struct registers;
  ptrace(PTRACE_GETREGS, child, 0, &registers);
  ASSERT_EQ(registers.rip, at(3));
  ASSERT_TRUE(breakpoints.armed(registers.rip - 1));
  EXPECT_TRUE(breakpoints.disarm(registers.rip - 1));
  registers.rip -= 1;
  ptrace(PTRACE_SETREGS, child, 0, &registers);
  ptrace(PTRACE_CONT, child, 0, 0);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(Maps, Lines) {
  auto mappings = parse_maps(
      "00400000-00401000 r-xp 00002000 08:01 1234                 /opt/my program\n"
      "7f00-8f00 rw-s 00000000 00:00 0\n"
      "nonsense\n"
      "7ffd-7fff rw-p 00000000 00:00 0                          [stack]");
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_EQ(mappings[0].begin, 0x400000u);
  EXPECT_EQ(mappings[0].end, 0x401000u);
  EXPECT_EQ(mappings[0].offset, 0x2000u);
  EXPECT_TRUE(mappings[0].executable && !mappings[0].writable && !mappings[0].shared);
  EXPECT_EQ(mappings[0].path, "/opt/my program");
  EXPECT_TRUE(mappings[1].shared);
  EXPECT_EQ(mappings[1].path, "");
  EXPECT_EQ(mappings[2].path, "[stack]");
}

}  // namespace
}  // namespace duress::collide
