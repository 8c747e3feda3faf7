// SPDX-License-Identifier: Apache-2.0
//
// Executions from which nothing may be concluded: real faults, made by a target that the host does not trust.
#include "exec/usability.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "exec/testing/folder_test.h"
#include "exec/worker.h"

namespace duress::exec {
namespace {

class UsabilityTest : public testing::FolderTest {
 protected:
  void SetUp() override { setenv("FAKE_TARGET_COUNT", (folder_ + "/count").c_str(), 1); }

  WorkerOptions options(const std::string& what) {
    WorkerOptions options;
    options.target = {DURESS_FAKE_TARGET, what};
    options.folder = folder_ + "/w0";
    return options;
  }
  static Plan plan_of(u64 seed) {
    Plan plan;
    plan.head.strategy = StrategyId::kRandom;
    plan.head.detect = trail::Detect::kRaces;
    plan.head.seed = seed;
    return plan;
  }
  /// The result of one execution; `first` and `kills`: which of the target's runs are killed from outside.
  Result run(const std::string& what, int first = 0, int kills = 0) {
    std::filesystem::remove(folder_ + "/count");
    setenv("FAKE_TARGET_KILLED", std::to_string(first).c_str(), 1);
    setenv("FAKE_TARGET_KILLS", std::to_string(kills).c_str(), 1);
    Worker worker(options(what));
    Result result = worker.run(plan_of(1), Oracle({}, ""), Logs::kAll);
    repeats_ = worker.repeats();
    if (!result.usable()) EXPECT_EQ(result.why().text.find('\n'), std::string::npos) << result.why().text;
    return result;
  }
  int repeats_ = 0;
};

TEST_F(UsabilityTest, ALogThatIsNotWholeShowsNothing) {
  for (const auto& [what, text] : {std::pair{"lost-line", "could not be written"},
                                   {"short-log", "has 10 bytes of"},
                                   {"no-log", "is gone"},
                                   {"damaged-log", "is damaged"}}) {
    Result result = run(what);
    ASSERT_FALSE(result.usable()) << what;
    EXPECT_NE(result.why().text.find(text), std::string::npos) << result.why().text;
  }
}

TEST_F(UsabilityTest, ADeathThatDoesNotComeAgainIsRepeated) {
  Result untouched = run("killed");
  for (int kills = 1; kills <= 2; ++kills) {
    Result result = run("killed", 1, kills);
    ASSERT_TRUE(result.usable()) << result.why().text;
    EXPECT_EQ(result.failure(), nullptr);
    EXPECT_EQ(result.execution().trail, untouched.execution().trail);
    EXPECT_EQ(repeats_, kills);
  }
  Result always = run("killed", 1, 3);  // by another signal each time
  ASSERT_FALSE(always.usable());
  EXPECT_NE(always.why().text.find("something outside"), std::string::npos) << always.why().text;
}

TEST_F(UsabilityTest, ADeathThatComesAgainIsAFailure) {
  Result result = run("same-death", 1, 3);
  ASSERT_TRUE(result.usable()) << result.why().text;
  ASSERT_NE(result.failure(), nullptr);
  EXPECT_EQ(result.failure()->kind, "signal:SIGTERM");
}

/// As the kernel does when there is no memory left.
TEST_F(UsabilityTest, SigkillFromOutsideIsNoFailureOfTheProgram) {
  Result twice = run("kill", 1, 2);
  ASSERT_TRUE(twice.usable()) << twice.why().text;
  EXPECT_EQ(twice.failure(), nullptr);
  Result result = run("kill", 1, 3);
  ASSERT_FALSE(result.usable());
  EXPECT_NE(result.why().text.find("something outside"), std::string::npos) << result.why().text;
}

TEST_F(UsabilityTest, AServerThatIsKilledTwiceIsStartedAgain) {
  Result result = run("server-killed", 1, 2);
  ASSERT_TRUE(result.usable()) << result.why().text;
  EXPECT_EQ(result.failure(), nullptr);
}

TEST_F(UsabilityTest, ADeathThatTheProgramCausedIsNotRepeated) {
  Result result = run("crash");
  ASSERT_TRUE(result.usable());
  ASSERT_NE(result.failure(), nullptr);
  EXPECT_EQ(result.failure()->kind, "signal:SIGSEGV");
  EXPECT_EQ(repeats_, 0);
}

TEST_F(UsabilityTest, ARuntimeThatGivesUpIsNoFailureOfTheProgram) {
  Result result = run("gives-up");
  ASSERT_FALSE(result.usable());
  EXPECT_NE(result.why().text.find("out of memory"), std::string::npos) << result.why().text;
}

/// A limit in a child process, because it cannot be raised again.
TEST_F(UsabilityTest, OutputThatReachesTheLimitOnFileSizesShowsNothing) {
  auto limited = [&] {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit{u64{70} << 20, u64{70} << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    Result result = run("floods-limit");
    bool said = !result.usable() && result.why().text.find("ulimit -f") != std::string::npos;
    std::fprintf(stderr, "%s\n", result.usable() ? "usable" : result.why().text.c_str());
    std::_Exit(said ? 0 : 1);
  };
  EXPECT_EXIT(limited(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace duress::exec
