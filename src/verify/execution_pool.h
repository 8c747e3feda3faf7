// SPDX-License-Identifier: Apache-2.0
//
// The inside of Verifier: what a worker found in one execution, and the workers.
#ifndef DURESS_VERIFY_EXECUTION_POOL_H_
#define DURESS_VERIFY_EXECUTION_POOL_H_

#include <condition_variable>
#include <deque>
#include <thread>

#include "verify/verifier.h"

namespace duress::verify {

/// One execution and what the worker that ran it found in it.
struct Verifier::Outcome {
  bool ran = false;
  exec::WorkerProblem problem;
  exec::Execution execution;
  std::optional<finding::Failure> failure;
  finding::RunLogs logs;
  std::string errors;
};

/// Workers that run what they are given, each on a thread of its own. An execution goes by a name of the
/// caller's.
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

  bool has(const std::string& name) {
    std::lock_guard guard(lock_);
    return jobs_.count(name) != 0;
  }
  /// Executions that are not done yet.
  std::size_t unfinished() {
    std::lock_guard guard(lock_);
    return jobs_.size() - done_;
  }
  /// How much memory those take that are done, and that nobody has taken; about.
  std::size_t kept_bytes() {
    std::lock_guard guard(lock_);
    return kept_bytes_;
  }
  std::size_t width() const { return threads_.size(); }
  /// `first`: before all others that wait.
  void add(const std::string& name, exec::Plan plan, bool first = false) {
    {
      std::lock_guard guard(lock_);
      jobs_.emplace(name, Job{std::move(plan), {}, false});
      waiting_.insert(first ? waiting_.begin() : waiting_.end(), name);
    }
    changed_.notify_one();
  }
  /// Its outcome, when it is there. Nothing: still under way, after a short wait or when another one was
  /// done.
  std::optional<Outcome> take(const std::string& name) {
    std::unique_lock guard(lock_);
    u64 before = finished_;
    ended_.wait_for(guard, std::chrono::milliseconds(100),
                    [&] { return jobs_.at(name).done || finished_ != before; });
    if (!jobs_.at(name).done) return std::nullopt;
    Outcome outcome = std::move(jobs_.at(name).outcome);
    jobs_.erase(name);
    --done_;
    kept_bytes_ -= bytes_of(outcome);
    return outcome;
  }
  /// Nobody will take what is there.
  void forget() {
    std::lock_guard guard(lock_);
    for (const std::string& name : waiting_) jobs_.erase(name);
    waiting_.clear();
    std::erase_if(jobs_, [](const auto& job) { return job.second.done; });
    done_ = kept_bytes_ = 0;
  }
  /// The same as take(), but it stays to be taken. Null: not done.
  const Outcome* look_at(const std::string& name) {
    std::lock_guard guard(lock_);
    auto job = jobs_.find(name);
    return job != jobs_.end() && job->second.done ? &job->second.outcome : nullptr;
  }

 private:
  struct Job {
    exec::Plan plan;
    Outcome outcome;
    bool done;
  };

  static std::size_t bytes_of(const Outcome& outcome) {
    constexpr std::size_t kLogs = 16384;
    return kLogs + outcome.execution.steps.size() * sizeof(exhaustive::Step);
  }

  void work(std::size_t index) {
    exec::Worker& worker = *verifier_.workers_[index];
    std::unique_lock guard(lock_);
    for (;;) {
      changed_.wait(guard, [&] { return over_ || !waiting_.empty(); });
      if (over_) return;
      std::string name = std::move(waiting_.front());
      waiting_.pop_front();
      exec::Plan plan = std::move(jobs_.at(name).plan);
      guard.unlock();
      Outcome outcome = verifier_.outcome_of(worker, plan, worker.run(plan));
      guard.lock();
      Job& job = jobs_.at(name);
      job.outcome = std::move(outcome);
      job.done = true;
      ++done_;
      kept_bytes_ += bytes_of(job.outcome);
      ++finished_;
      ended_.notify_all();
    }
  }

  Verifier& verifier_;
  std::mutex lock_;
  std::condition_variable changed_, ended_;
  std::map<std::string, Job> jobs_;
  std::deque<std::string> waiting_;
  std::size_t done_ = 0;  // of jobs_
  std::size_t kept_bytes_ = 0;
  u64 finished_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

/// Which two accesses raced, without what changes from run to run.
std::string race_key(const finding::RaceRecord& race);

}  // namespace duress::verify

#endif  // DURESS_VERIFY_EXECUTION_POOL_H_
