// SPDX-License-Identifier: Apache-2.0
//
// A tracer that dies, in a process of its own, with breakpoints in the memory of another that stands still.
#include "collide/guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "collide/breakpoints.h"

namespace duress::collide {
namespace {

const std::string kNops(8, '\x90');
alignas(8) char memory[4096];  // of the child, after fork

class GuardTest : public testing::Test {
 protected:
  void SetUp() override {
    std::memcpy(memory, kNops.data(), kNops.size());
    child_ = fork();
    if (child_ == 0) {
      for (;;) pause();
    }
  }
  void TearDown() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  /// Sets breakpoints under guard, tells it `end`, and returns when the guard is gone too.
  template <typename End>
  void trace_and(End end) {
    // Orphans come to us, so that we can wait for the guard.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t tracer = fork();
    if (tracer == 0) {
      auto guard = Guard::start();
      TargetMemory target(child_);
      Breakpoints breakpoints(target, guard.get());
      bool set = guard && breakpoints.arm(at(0), kNops.substr(0, 2)) &&
                 breakpoints.arm(at(4), kNops.substr(0, 3)) && breakpoints.arm(at(2), kNops.substr(0, 1)) &&
                 breakpoints.disarm(at(2));
      if (!set) _exit(1);
      end(breakpoints, guard);
      _exit(0);
    }
    for (int waited = 0; waited < 2;) {
      int status = 0;
      pid_t pid = waitpid(-1, &status, 0);
      ASSERT_GT(pid, 0);
      if (pid == child_) FAIL() << "the target ended";
      if (pid == tracer) EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
      // The guard is a child of the tracer, and waited for by it if that lives.
      waited += pid == tracer && WIFEXITED(status) ? 2 : 1;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

  Address at(std::size_t offset) const { return reinterpret_cast<Address>(memory) + offset; }
  std::string now() const {
    std::string bytes(8, '\0');
    TargetMemory(child_).read(at(0), bytes.data(), bytes.size());
    return bytes;
  }

  pid_t child_ = 0;
};

TEST_F(GuardTest, AKilledTracersBreakpointsAreTakenOut) {
  trace_and([](Breakpoints&, std::unique_ptr<Guard>&) { raise(SIGKILL); });
  EXPECT_EQ(now(), kNops);
}

TEST_F(GuardTest, ATracerThatSaysGoodbyeHasDoneItItself) {
  trace_and([](Breakpoints&, std::unique_ptr<Guard>& guard) { guard.reset(); });
  EXPECT_EQ(now(),
            "\xcc\x90\x90\x90\xcc\x90\x90\x90");  // it had not, and that shows that the guard did nothing
}

TEST(Guard, TheListHasAnEnd) {
  auto guard = Guard::start();
  ASSERT_TRUE(guard);
  TargetMemory own(getpid());
  unsigned number = guard->add_memory(own.fd());
  ASSERT_NE(number, 0u);
  EXPECT_EQ(guard->add(0, 1, kNops), -1);
  EXPECT_EQ(guard->add(number, 1, std::string(40, 'x')), -1);
  int first = guard->add(number, 1, kNops), last = first;
  ASSERT_GE(first, 0);
  while (int place = guard->add(number, 1, kNops)) {
    if (place < 0) break;
    last = place;
  }
  guard->remove(last);
  EXPECT_EQ(guard->add(number, 2, kNops), last);
}

}  // namespace
}  // namespace duress::collide
