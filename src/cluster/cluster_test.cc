// SPDX-License-Identifier: Apache-2.0
//
// A coordinator here and workers in processes of their own, with the program that simulates two strands. The
// commands themselves are compared in tests/cluster.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "cluster/codec.h"
#include "cluster/coordinator.h"
#include "cluster/shard_worker.h"
#include "exec/program.h"
#include "exec/testing/every_field.h"
#include "exec/worker.h"

extern char** environ;

namespace duress::cluster {
namespace {

namespace fs = std::filesystem;
using exec::Execution;
using exec::Plan;
using exec::RemoteRun;
using exec::Worker;
using exec::WorkerOptions;
using Kind = exec::WorkerProblem::Kind;

Plan plan_of(u64 seed) {
  Plan plan;
  plan.head.seed = seed;
  plan.head.strategy = StrategyId::kRandom;
  plan.head.detect = trail::Detect::kRaces;
  return plan;
}

class Cluster : public testing::Test {
 protected:
  Cluster() : dir_(testing::TempDir() + "/cluster-" + std::to_string(getpid())) {
    fs::remove_all(dir_);
    std::string error;
    campaign_.protocol = protocol_name();
    campaign_.folder = fs::current_path();
    for (char** entry = environ; *entry != nullptr; ++entry) campaign_.environment.emplace_back(*entry);
    folder_ = Folder::make(dir_, campaign_, error);
    EXPECT_EQ(error, "");
    drive_again();
    worker_.target = {DURESS_FAKE_TARGET, "output"};
    worker_.folder = dir_ + "/here";
  }
  ~Cluster() override {
    for (pid_t pid : started_) end(pid, SIGKILL);
    fs::remove_all(dir_);
  }

  void drive_again() {
    ++campaign_.epoch;
    fs::create_directories(folder_.queue(campaign_.epoch));
    EXPECT_EQ(folder_.save(campaign_), "");
  }
  void finish() {
    campaign_.finished = true;
    EXPECT_EQ(folder_.save(campaign_), "");
  }
  /// A worker in a process of its own.
  pid_t start(u64 shard, u64 of) {
    pid_t pid = fork();
    if (pid == 0) {
      static std::atomic<bool> stop{false};
      signal(SIGTERM, [](int) { stop = true; });
      ShardOptions options;
      options.dir = dir_;
      options.shard = shard;
      options.of = of;
      options.work_folder = dir_ + "/work" + std::to_string(getpid());
      ShardResult result = ShardWorker(options, stop).run();
      if (!result.problem.empty()) fprintf(stderr, "%s\n", result.problem.c_str());
      _exit(result.problem.empty() ? 0 : 125);
    }
    started_.insert(pid);
    return pid;
  }
  int end(pid_t pid, int with) {
    int status = 0;
    if (with != 0) kill(pid, with);
    waitpid(pid, &status, 0);
    started_.erase(pid);
    return status;
  }
  CoordinatorOptions options() {
    CoordinatorOptions result;
    result.folders = {folder_};
    result.epoch = campaign_.epoch;
    result.say = [this](const std::string& text) { said_.push_back(text); };
    return result;
  }
  /// What this process itself gets.
  std::string alone(u64 seed) {
    if (!own_) own_ = std::make_unique<Worker>(worker_);
    std::optional<Execution> execution = own_->run(plan_of(seed));
    EXPECT_TRUE(execution) << own_->problem().text;
    return text_of(own_->pack(std::move(execution)));
  }
  static std::string text_of(RemoteRun run) {
    // Process numbers and times are chance.
    std::string text = std::to_string(run.ran) + " " + std::to_string(run.execution.status) + " " +
                       std::to_string(run.execution.record.choices) + " " +
                       std::to_string(run.execution.record.switches) + " " + run.output + run.errors + " " +
                       std::to_string(run.logs.size());
    for (const trail::Deviation& deviation : run.execution.trail)
      text += " " + std::to_string(deviation.choice) + ":" + std::to_string(deviation.kind_and_pick);
    return text;
  }

  std::string dir_;
  Folder folder_{""};
  CampaignFile campaign_;
  WorkerOptions worker_;
  std::unique_ptr<Worker> own_;
  std::set<pid_t> started_;
  std::vector<std::string> said_;
};

TEST_F(Cluster, PlansAndRunsSurviveTheWay) {
  Plan plan = exec::testing::plan_with_every_field();
  std::optional<Plan> back = read_plan(plan_bytes(plan));
  ASSERT_TRUE(back);
  EXPECT_EQ(plan_bytes(*back), plan_bytes(plan));
  exec::testing::expect_same(*back, plan);
  EXPECT_FALSE(read_plan(plan_bytes(plan).substr(1)));
  EXPECT_FALSE(read_plan(plan_bytes(plan) + "x"));

  for (std::size_t size : {0, 100000}) {
    RemoteRun run;
    run.ran = true;
    run.execution = exec::testing::execution_with_every_field();
    run.execution.pid = 4;
    run.execution.status = 5;
    run.execution.timed_out = run.execution.flooded = true;
    run.execution.seconds = 6.5;
    run.execution.output_bytes = 7;
    run.execution.error_bytes = 8;
    run.output = std::string(size, 'o');
    run.logs = {{"1.jsonl", "text"}};
    std::optional<RemoteRun> same = read_run(run_bytes(run));
    ASSERT_TRUE(same);
    EXPECT_EQ(same->output, run.output);
    EXPECT_EQ(same->logs, run.logs);
    exec::testing::expect_same_record(same->execution, run.execution);
    EXPECT_EQ(same->execution.pid, 4);
    EXPECT_EQ(same->execution.status, 5);
    EXPECT_TRUE(same->execution.timed_out);
    EXPECT_TRUE(same->execution.flooded);
    EXPECT_EQ(same->execution.seconds, 6.5);
    EXPECT_EQ(same->execution.output_bytes, 7u);
    EXPECT_EQ(same->execution.error_bytes, 8u);
    EXPECT_FALSE(read_run(run_bytes(run).substr(0, 20)));
  }
}

TEST_F(Cluster, AnyNumberOfWorkersGivesWhatOneProcessGets) {
  constexpr u64 kRuns = 40;
  for (u64 workers : {1, 2, 7}) {
    for (u64 shard = 1; shard <= workers; ++shard) start(shard, workers);
    std::vector<std::string> texts(kRuns);
    {
      Coordinator coordinator(options());
      std::vector<std::thread> threads;
      std::atomic<u64> next{0};
      for (int i = 0; i < 10; ++i)
        threads.emplace_back([&] {
          for (u64 seed; (seed = next++) < kRuns;)
            texts[seed] = text_of(coordinator.run(worker_, plan_of(workers * 1000 + seed), nullptr));
        });
      for (std::thread& thread : threads) thread.join();
      EXPECT_GE(coordinator.state().done, kRuns);
      EXPECT_EQ(coordinator.state().waiting, 0u);
    }
    for (u64 seed = 0; seed < kRuns; ++seed) EXPECT_EQ(texts[seed], alone(workers * 1000 + seed));
    own_.reset();
    while (!started_.empty()) EXPECT_EQ(end(*started_.begin(), SIGTERM), 0);
  }
  EXPECT_TRUE(said_.empty()) << said_[0];
}

TEST_F(Cluster, WhatIsRecordedIsNotRunAgainAndNobodyIsNeeded) {
  start(1, 1);
  std::string first;
  {
    Coordinator coordinator(options());
    first = text_of(coordinator.run(worker_, plan_of(1), nullptr));
  }
  finish();
  EXPECT_EQ(end(*started_.begin(), 0), 0);  // by itself
  CoordinatorOptions recorded = options();
  bool stopped = false;
  recorded.recorded_only = true;
  recorded.stop = [&] { stopped = true; };
  Coordinator coordinator(recorded);
  EXPECT_EQ(text_of(coordinator.run(worker_, plan_of(1), nullptr)), first);
  EXPECT_FALSE(coordinator.missing());
  EXPECT_EQ(coordinator.run(worker_, plan_of(2), nullptr).problem.kind, Kind::kStopped);
  EXPECT_TRUE(coordinator.missing());
  EXPECT_TRUE(stopped);
}

TEST_F(Cluster, WorkerThatIsKilledAndStartedAgainLosesNothing) {
  worker_.target = {DURESS_FAKE_TARGET, "output"};
  pid_t first = start(1, 1), second = 0;
  kill(first, SIGSTOP);  // it says hello or not, takes work or not, and never answers
  Coordinator coordinator(options());
  std::string text;
  std::thread asks([&] { text = text_of(coordinator.run(worker_, plan_of(5), nullptr)); });
  end(first, SIGKILL);
  second = start(1, 1);
  asks.join();
  EXPECT_EQ(text, alone(5));
  EXPECT_EQ(end(second, SIGTERM), 0);
}

TEST_F(Cluster, OtherBuildOfTheProgramIsRefused) {
  fs::copy_file(DURESS_FAKE_TARGET, dir_ + "/program");
  worker_.target = {dir_ + "/program", "output"};
  u64 hash = 0;
  ASSERT_EQ(folder_.save_spec(worker_, hash), "");
  std::optional<Spec> spec = folder_.spec(hash);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->build, exec::build_of(DURESS_FAKE_TARGET));
  pid_t pid = 0;
  {
    Coordinator coordinator(options());
    // Between the two the program changes on the worker's machine.
    std::thread asks([&] {
      RemoteRun run = coordinator.run(worker_, plan_of(1), nullptr);
      EXPECT_EQ(run.problem.kind, Kind::kTool);
      EXPECT_NE(run.problem.text.find("is another build"), std::string::npos) << run.problem.text;
    });
    while (coordinator.state().waiting == 0) std::this_thread::yield();
    fs::remove(dir_ + "/program");
    fs::copy_file("/bin/true", dir_ + "/program");
    pid = start(1, 1);
    asks.join();
  }
  EXPECT_EQ(WEXITSTATUS(end(pid, 0)), 125);
}

TEST_F(Cluster, WhatNobodyWaitsForIsWithdrawn) {
  Coordinator coordinator(options());  // no worker at all
  std::atomic<bool> stop{false};
  std::thread asks(
      [&] { EXPECT_EQ(coordinator.run(worker_, plan_of(1), &stop).problem.kind, Kind::kStopped); });
  while (coordinator.state().waiting == 0) std::this_thread::yield();
  stop = true;
  asks.join();
  while (coordinator.state().withdrawn == 0) std::this_thread::yield();
  EXPECT_EQ(coordinator.state().waiting, 0u);
}

TEST_F(Cluster, WhoeverDrivesLastDrives) {
  Coordinator before(options());
  std::thread asks([&] {
    RemoteRun run = before.run(worker_, plan_of(1), nullptr);
    EXPECT_NE(run.problem.text.find("another duress process drives this campaign now"), std::string::npos);
  });
  drive_again();
  asks.join();
}

TEST_F(Cluster, FolderThatIsNotTheSameIsSaid) {
  std::atomic<bool> stop{false};
  ShardOptions options;
  options.dir = dir_ + "/elsewhere";
  options.patience = 0;
  EXPECT_NE(ShardWorker(options, stop).run().problem.find("every machine must see the folder"),
            std::string::npos);
  campaign_.protocol = "0";
  ASSERT_EQ(folder_.save(campaign_), "");
  options.dir = dir_;
  EXPECT_NE(ShardWorker(options, stop).run().problem.find("another version of duress"), std::string::npos);
}

}  // namespace
}  // namespace duress::cluster
