// SPDX-License-Identifier: Apache-2.0
//
// The real scheduler, with executions on a strand that outlives them, as duress::check has them.
#include "sched/scheduler.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace duress::sched {
namespace {

/// Kernel threads cannot leave the scheduler any more, so it lives as long as the process.
class Closure {
 public:
  static Closure& get() {
    static auto& closure = *new Closure;
    return closure;
  }

  const trail::Record& execute(const std::function<void()>& job) {
    record_ = {};
    scheduler.begin_closure(request_, &record_);
    if (strand_) {
      strand_->reset();
    } else {
      strand_ = scheduler.make_spare();
      std::thread([this] {
        scheduler.arrive(strand_);
        for (;;) {
          job_();
          scheduler.end_job();
        }
      }).detach();
    }
    job_ = job;
    scheduler.enlist(strand_, 0);
    scheduler.launch(strand_);
    scheduler.run(strand_);
    scheduler.finish();
    return record_;
  }

  Scheduler scheduler{arena_, {}};

 private:
  Arena arena_;
  trail::Request request_ = {};
  trail::Record record_ = {};
  Strand* strand_ = nullptr;
  std::function<void()> job_;
};

TEST(Scheduler, ALoadIsNotThrottledBecauseOfEarlierExecutions) {
  Closure& closure = Closure::get();
  u32 throttled = 0;
  // More than a load may repeat in one execution before points are left out.
  for (int i = 0; i < 10'000; ++i) {
    closure.execute([&] { throttled += closure.scheduler.throttle_load(64); });
  }
  EXPECT_EQ(throttled, 0u);
}

TEST(Scheduler, ALoadIsThrottledWithinAnExecution) {
  Closure& closure = Closure::get();
  u32 throttled = 0;
  closure.execute([&] {
    for (int i = 0; i < 10'000; ++i) throttled += closure.scheduler.throttle_load(64);
  });
  EXPECT_GT(throttled, 5'000u);
}

}  // namespace
}  // namespace duress::sched
