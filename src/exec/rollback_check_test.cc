// SPDX-License-Identifier: Apache-2.0
#include "exec/rollback_check.h"

#include <gtest/gtest.h>

#include <vector>

namespace duress::exec {
namespace {

Execution undone(int pid) {
  Execution execution;
  execution.pid = pid;
  execution.record.rollback = trail::Rollback::kDone;
  return execution;
}

TEST(RollbackCheck, RepeatsTheFirstOnesAndThenOneInFiveThousand) {
  RollbackCheck check;
  EXPECT_FALSE(check.is_due(undone(7)));  // of a new process
  std::vector<int> due;
  for (int i = 1; i <= 11500; ++i) {
    if (check.is_due(undone(7))) due.push_back(i);
  }
  EXPECT_EQ(due, (std::vector<int>{1, 10, 100, 1000, 6000, 11000}));
}

TEST(RollbackCheck, ExecutionsOfNewProcessesAreNotRepeated) {
  RollbackCheck check;
  for (int pid = 1; pid < 100; ++pid) EXPECT_FALSE(check.is_due(undone(pid)));
  Execution ended;  // its process is gone
  ended.pid = 99;
  EXPECT_TRUE(check.is_due(ended));  // but had been rolled back before
  EXPECT_FALSE(check.is_due(undone(99)));
}

TEST(RollbackCheck, ASecondNewProcessIsNotTakenForTheFirst) {
  RollbackCheck check;
  EXPECT_FALSE(check.is_due(undone(7)));
  check.forget_process();
  EXPECT_FALSE(check.is_due(undone(7)));
}

TEST(RollbackCheck, EverythingIsCompared) {
  Observed one{undone(1), "output", "errors"};
  auto changed = [&](auto change) {
    Observed other = one;
    change(other);
    return !one.equals(other);
  };
  EXPECT_FALSE(changed([](Observed& o) { o.execution.pid = 2; }));
  EXPECT_FALSE(changed([](Observed& o) { o.execution.record.rollback = trail::Rollback::kNone; }));
  EXPECT_FALSE(changed([](Observed& o) { o.execution.record.from_checkpoint = 1; }));
  EXPECT_TRUE(changed([](Observed& o) { o.output = "other"; }));
  EXPECT_TRUE(changed([](Observed& o) { o.errors = "other"; }));
  EXPECT_TRUE(changed([](Observed& o) { o.execution.status = 256; }));
  EXPECT_TRUE(changed([](Observed& o) { o.execution.record.steps = 5; }));
  EXPECT_TRUE(changed([](Observed& o) { o.execution.trail.push_back({1, 1}); }));
  EXPECT_TRUE(changed([](Observed& o) { o.execution.steps.emplace_back(); }));
  one.execution.steps.emplace_back();
  EXPECT_TRUE(changed([](Observed& o) { o.execution.steps[0].strand = 1; }));
  EXPECT_TRUE(changed([](Observed& o) { o.execution.steps[0].add(8, 4, exhaustive::Mode::kRead, 0); }));
}

TEST(RollbackStatistics, SaysHowManyWereUndoneAndWhyNot) {
  RollbackStatistics statistics;
  for (int i = 0; i < 3; ++i) statistics.add(undone(1).record, false);
  trail::Record refused;
  refused.rollback = trail::Rollback::kCall;
  refused.rollback_call = 222;
  statistics.add(refused, false);
  EXPECT_EQ(statistics.text(),
            "3 of 4 executions were undone in their process; 1 not: system call 222 cannot be undone");
  EXPECT_EQ(statistics.warning(), "");
  statistics.add_difference();
  EXPECT_NE(statistics.warning().find("turned off"), std::string::npos);
}

}  // namespace
}  // namespace duress::exec
