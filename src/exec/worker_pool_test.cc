// SPDX-License-Identifier: Apache-2.0
#include "exec/worker_pool.h"

#include <gtest/gtest.h>

#include "exec/testing/folder_test.h"

namespace duress::exec {
namespace {

class WorkerPoolTest : public testing::FolderTest {
 protected:
  WorkerOptions options(const std::string& what) {
    WorkerOptions options;
    options.target = {DURESS_FAKE_TARGET, what};
    options.folder = folder_;
    return options;
  }
  static bool go_on() { return true; }
};

TEST_F(WorkerPoolTest, ResultsDoNotDependOnTheNumberOfWorkers) {
  std::vector<Trail> first;
  for (unsigned jobs : {1u, 3u}) {
    WorkerPool pool(options("counter"), jobs);
    std::vector<Trail> trails(20);
    ASSERT_TRUE(pool.run(
        20,
        [&](u64 i, Worker& worker) {
          Plan plan;
          plan.head.seed = i;
          plan.head.strategy = StrategyId::kRandom;
          std::optional<Execution> execution = pool.execute(worker, plan);
          if (execution) trails[i] = execution->trail;
          return execution.has_value();
        },
        go_on))
        << pool.problem().text;
    EXPECT_EQ(pool.executions(), 20u);
    if (first.empty()) first = trails;
    EXPECT_EQ(trails, first);
  }
}

TEST_F(WorkerPoolTest, NothingToDoIsDone) {
  WorkerPool pool(options("counter"), 2);
  EXPECT_TRUE(pool.run(0, {}, go_on));
}

TEST_F(WorkerPoolTest, AProblemEndsAllOfIt) {
  WorkerPool pool(options("exit-at-once"), 2);
  bool done =
      pool.run(100, [&](u64, Worker& worker) { return pool.execute(worker, Plan{}).has_value(); }, go_on);
  EXPECT_FALSE(done);
  EXPECT_EQ(pool.problem().kind, WorkerProblem::Kind::kEnded) << pool.problem().text;
  EXPECT_FALSE(pool.run(1, [](u64, Worker&) { return true; }, go_on));  // and of what comes after
}

TEST_F(WorkerPoolTest, ATickEndsWhatHangs) {
  WorkerPool pool(options("hang"), 2);
  bool done = pool.run(
      2, [&](u64, Worker& worker) { return pool.execute(worker, Plan{}).has_value(); }, [] { return false; });
  EXPECT_FALSE(done);
  EXPECT_EQ(pool.problem().kind, WorkerProblem::Kind::kNone);  // we wanted it
}

}  // namespace
}  // namespace duress::exec
