// SPDX-License-Identifier: Apache-2.0
//
// The inside of Verifier: what a worker found in one execution, and the workers.
#ifndef DURESS_CAMPAIGN_VERIFY_POOL_H_
#define DURESS_CAMPAIGN_VERIFY_POOL_H_

#include <condition_variable>
#include <deque>
#include <thread>

#include "campaign/verify.h"

namespace duress::campaign {

/// One execution, judged by the worker that ran it.
struct Verifier::Outcome {
  bool ran = false;
  WorkerProblem problem;
  Execution execution;
  std::optional<Failure> failure;
  RunLogs logs;
  std::string errors;
};

/// Workers that run what they are given, each on a thread of its own.
class Verifier::Pool {
 public:
  Pool(Verifier& verifier, std::size_t width) : verifier_(verifier) {
    for (std::size_t i = 0; i < width; ++i) threads_.emplace_back([this, i] { work(i); });
  }
  ~Pool() {
    {
      std::lock_guard guard(lock_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  bool has(u64 serial) {
    std::lock_guard guard(lock_);
    return jobs_.count(serial) != 0;
  }
  void add(u64 serial, Plan plan) {
    {
      std::lock_guard guard(lock_);
      jobs_.emplace(serial, Job{std::move(plan), {}, false});
      waiting_.push_back(serial);
    }
    changed_.notify_all();
  }
  /// Its outcome, when it is there. Nothing: still under way, after a short wait.
  std::optional<Outcome> take(u64 serial) {
    std::unique_lock guard(lock_);
    bool there = done_.wait_for(guard, std::chrono::milliseconds(100), [&] { return jobs_.at(serial).done; });
    if (!there) return std::nullopt;
    Outcome outcome = std::move(jobs_.at(serial).outcome);
    jobs_.erase(serial);
    return outcome;
  }

 private:
  struct Job {
    Plan plan;
    Outcome outcome;
    bool done;
  };

  void work(std::size_t index) {
    Worker& worker = *verifier_.workers_[index];
    std::unique_lock guard(lock_);
    for (;;) {
      changed_.wait(guard, [&] { return over_ || !waiting_.empty(); });
      if (over_) return;
      u64 serial = waiting_.front();
      waiting_.pop_front();
      Plan plan = jobs_.at(serial).plan;
      guard.unlock();
      Outcome outcome = verifier_.judge(worker, plan, worker.run(plan));
      guard.lock();
      Job& job = jobs_.at(serial);
      job.outcome = std::move(outcome);
      job.done = true;
      done_.notify_all();
    }
  }

  Verifier& verifier_;
  std::mutex lock_;
  std::condition_variable changed_, done_;
  std::map<u64, Job> jobs_;
  std::deque<u64> waiting_;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

/// Which two accesses raced, without what changes from run to run.
std::string race_key(const finding::RaceRecord& race);

}  // namespace duress::campaign

#endif  // DURESS_CAMPAIGN_VERIFY_POOL_H_
