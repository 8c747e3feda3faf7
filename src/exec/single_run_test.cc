// SPDX-License-Identifier: Apache-2.0
#include "exec/single_run.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "exec/files.h"
#include "exec/testing/folder_test.h"
#include "exec/worker.h"

namespace duress::exec {
namespace {

class SingleRunTest : public testing::FolderTest {
 protected:
  SingleRunOptions options(const std::string& what) {
    SingleRunOptions options;
    options.target = {DURESS_FAKE_TARGET, what};
    options.folder = folder_ + "/single";
    options.pass_on = false;
    return options;
  }
};

TEST_F(SingleRunTest, IsTheRunThatAServerMade) {
  WorkerOptions served;
  served.target = {DURESS_FAKE_TARGET, "output"};
  served.folder = folder_ + "/w0";
  Worker worker(served);
  SingleRun single(options("output"));
  for (u64 seed = 1; seed <= 5; ++seed) {
    Plan plan;
    plan.head.strategy = StrategyId::kRandom;
    plan.head.points = trail::Points::kAll;
    plan.head.seed = seed;
    std::optional<Execution> first = worker.run(plan);
    ASSERT_TRUE(first);
    Plan again = plan.replaying(first->trail);
    ASSERT_EQ(single.prepare(again), "");
    Result second = single.run(again, Oracle({}, ""));
    ASSERT_TRUE(second.usable()) << second.why().text;
    EXPECT_EQ(second.execution().trail, first->trail);
    EXPECT_EQ(second.execution().status, first->status);
    EXPECT_EQ(read_file(single.captured().output), read_file(worker.captured().output));
  }
}

TEST_F(SingleRunTest, SaysWhereItDiverged) {
  SingleRun single(options("output"));
  Plan plan;
  plan.trail = {trail::Deviation::of(2, trail::ChoiceKind::kThread, 77)};
  ASSERT_EQ(single.prepare(plan), "");
  Result result = single.run(plan, Oracle({}, ""));
  ASSERT_TRUE(result.usable());
  EXPECT_EQ(result.execution().record.diverged, 3u);
}

TEST_F(SingleRunTest, TracesAndTimesOut) {
  SingleRun single(options("output"));
  Plan plan;
  plan.head.trace = true;
  ASSERT_EQ(single.prepare(plan), "");
  Result result = single.run(plan, Oracle({}, ""));
  ASSERT_TRUE(result.usable());
  EXPECT_EQ(result.failure(), nullptr);
  EXPECT_EQ(result.logs().steps.size(), 16u);

  SingleRunOptions quick = options("hang");
  quick.run_seconds = 0.2;
  SingleRun hanging(quick);
  ASSERT_EQ(hanging.prepare(plan), "");
  Result hung = hanging.run(plan, Oracle({}, ""));
  ASSERT_TRUE(hung.usable());
  ASSERT_NE(hung.failure(), nullptr);
  EXPECT_EQ(hung.failure()->kind, "no-end");

  SingleRunOptions busy = options("endless");
  busy.run_seconds = 1;
  SingleRun endless(busy);
  Plan limited;
  limited.head.most_steps = 1'000'000;
  ASSERT_EQ(endless.prepare(limited), "");
  Result ended = endless.run(limited, Oracle({}, ""));
  ASSERT_TRUE(ended.usable());
  EXPECT_EQ(ended.execution().record.outcome, trail::Outcome::kStepLimit);

  SingleRunOptions none = options("x");
  none.target = {"/no/such/program"};
  SingleRun missing(none);
  ASSERT_EQ(missing.prepare(plan), "");
  Result not_run = missing.run(plan, Oracle({}, ""));
  ASSERT_FALSE(not_run.usable());
  EXPECT_NE(not_run.why().text.find("cannot start"), std::string::npos);
}

}  // namespace
}  // namespace duress::exec
