// SPDX-License-Identifier: Apache-2.0
#include "exec/worker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>

#include "exec/files.h"
#include "exec/testing/folder_test.h"
#include "trail/whole_mark.h"

namespace duress::exec {
namespace {

class WorkerTest : public testing::FolderTest {
 protected:
  WorkerOptions options(const std::string& what) {
    WorkerOptions options;
    options.target = {DURESS_FAKE_TARGET, what};
    options.folder = folder_ + "/w0";
    return options;
  }
  static Plan random_plan(u64 seed) {
    Plan plan;
    plan.head.strategy = StrategyId::kRandom;
    plan.head.points = trail::Points::kAll;
    plan.head.seed = seed;
    return plan;
  }
};

TEST_F(WorkerTest, RunsAndReplays) {
  Worker worker(options("output"));
  std::set<std::string> outputs;
  for (u64 seed = 1; seed <= 30; ++seed) {
    Plan plan = random_plan(seed);
    std::optional<Execution> first = worker.run(plan);
    ASSERT_TRUE(first) << worker.problem().text;
    EXPECT_EQ(first->status, 0);
    EXPECT_EQ(first->record.outcome, trail::Outcome::kEnded);
    std::string output = read_file(worker.captured().output).value_or("");
    outputs.insert(output);
    std::optional<Execution> again = worker.run(plan.replaying(first->trail));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->trail, first->trail);
    EXPECT_EQ(again->record.diverged, 0u);
    EXPECT_EQ(read_file(worker.captured().output).value_or(""), output);  // of this run alone
  }
  EXPECT_EQ(outputs, (std::set<std::string>{"count 1\n", "count 2\n"}));
}

TEST_F(WorkerTest, RacesAreLookedForWhereAccessesAreNew) {
  Worker worker(options("new-accesses"));
  Plan plan = random_plan(1);
  plan.head.skip_known = true;
  for (int i = 0; i < 20; ++i) {
    std::optional<Execution> execution = worker.run(plan);
    ASSERT_TRUE(execution) << worker.problem().text;
    EXPECT_EQ(execution->record.races_unchecked, 0u);
    // Of the second execution; after some that were all new the first one looks for races.
    EXPECT_EQ(read_file(worker.captured().output).value_or(""), i < 16 ? "01\n" : "00\n");
  }
}

TEST_F(WorkerTest, EveryRunReadsTheWholeInput) {
  write_file(folder_ + "/input", "some words");
  WorkerOptions with_input = options("echo");
  with_input.input = folder_ + "/input";
  Worker worker(with_input);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(worker.run(random_plan(1)));
    EXPECT_EQ(read_file(worker.captured().output), "some words");
  }
}

TEST_F(WorkerTest, LogsAreTakenAndRemoved) {
  Worker worker(options("exit"));
  Plan plan = random_plan(1);
  plan.head.detect = trail::Detect::kRaces;
  std::optional<Execution> execution = worker.run(plan);
  ASSERT_TRUE(execution);
  finding::RunLogs logs = worker.take_logs(*execution);
  EXPECT_EQ(finding::racing_pairs(logs).size(), 1u);
  for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/w0/logs"))
    EXPECT_EQ(entry.path().filename(), trail::kWholeMark);
}

TEST_F(WorkerTest, AHangingRunIsEnded) {
  WorkerOptions quick = options("hang");
  quick.run_seconds = 0.3;
  Worker worker(quick);
  for (int i = 0; i < 2; ++i) {
    std::optional<Execution> execution = worker.run(random_plan(1));
    ASSERT_TRUE(execution) << worker.problem().text;
    EXPECT_TRUE(execution->timed_out);
  }
  EXPECT_EQ(worker.restarts(), 0);
}

TEST_F(WorkerTest, ARunOnItsWayToTheStepLimitIsNotEndedByTime) {
  WorkerOptions quick = options("endless");
  quick.run_seconds = 1;
  Worker worker(quick);
  Plan plan = random_plan(1);
  plan.head.most_steps = 1'000'000;
  std::optional<Execution> execution = worker.run(plan);
  ASSERT_TRUE(execution) << worker.problem().text;
  EXPECT_GT(execution->seconds, quick.run_seconds);
  EXPECT_FALSE(execution->timed_out);
  EXPECT_EQ(execution->record.outcome, trail::Outcome::kStepLimit);
}

TEST_F(WorkerTest, ProblemsAreSaid) {
  auto problem = [&](WorkerOptions with) {
    Worker worker(std::move(with));
    EXPECT_FALSE(worker.run(random_plan(1)));
    EXPECT_EQ(worker.problem().text.find('\n'), std::string::npos);
    return worker.problem();
  };
  WorkerOptions none = options("x");
  none.target = {"/no/such/program"};
  EXPECT_EQ(problem(none).kind, WorkerProblem::Kind::kCannotStart);
  WorkerProblem ended = problem(options("exit-at-once"));
  EXPECT_EQ(ended.kind, WorkerProblem::Kind::kEnded);
  EXPECT_NE(ended.text.find("ended with exit code 0 before it could be controlled"), std::string::npos)
      << ended.text;
  EXPECT_EQ(problem(options("never-begins")).kind, WorkerProblem::Kind::kEnded);
  EXPECT_EQ(problem(options("kill-parent")).kind, WorkerProblem::Kind::kEnded);
  none.target = {"/bin/true"};
  EXPECT_EQ(problem(none).kind, WorkerProblem::Kind::kEnded);
}

TEST_F(WorkerTest, StopEndsARun) {
  std::string fifo = folder_ + "/hangs";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  setenv("FAKE_TARGET_HANGS", fifo.c_str(), 1);
  std::atomic<bool> stop{false};
  Worker worker(options("hang"), &stop);
  std::thread later([&] {
    close(open(fifo.c_str(), O_RDONLY));  // returns when the run has come to where it hangs
    stop = true;
  });
  EXPECT_FALSE(worker.run(random_plan(1)));
  EXPECT_EQ(worker.problem().kind, WorkerProblem::Kind::kStopped);
  later.join();
  unsetenv("FAKE_TARGET_HANGS");
}

TEST_F(WorkerTest, WhatARunLeavesBehindIsEnded) {
  Worker worker(options("daemon"));
  ASSERT_TRUE(worker.run(random_plan(1)));
  ASSERT_TRUE(worker.run(random_plan(2)));
  EXPECT_GE(worker.leftovers(), 1);
}

TEST_F(WorkerTest, ItsFolderGoesWithIt) {
  {
    Worker worker(options("output"));
    ASSERT_TRUE(worker.run(random_plan(1)));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/w0"));
}

}  // namespace
}  // namespace duress::exec
