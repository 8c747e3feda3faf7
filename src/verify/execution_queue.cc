// SPDX-License-Identifier: Apache-2.0
#include "verify/execution_queue.h"

#include <chrono>

namespace duress::verify {
namespace {

std::size_t bytes_of(const Outcome& outcome) {
  constexpr std::size_t kLogs = 16384;
  return kLogs + outcome.execution.steps.size() * sizeof(exhaustive::Step);
}

}  // namespace

ExecutionQueue::ExecutionQueue(exec::WorkerPool& pool, Run run) : pool_(pool), run_(std::move(run)) {
  pool_.start(pool_.size(), [this](exec::Worker& worker) { work(worker); });
}

ExecutionQueue::~ExecutionQueue() {
  {
    std::lock_guard guard(lock_);
    closed_ = true;
  }
  added_.notify_all();
  pool_.join();
}

void ExecutionQueue::add(const std::string& name, exec::Plan plan, bool first) {
  {
    std::lock_guard guard(lock_);
    jobs_.emplace(name, Job{std::move(plan), {}, false});
    waiting_.insert(first ? waiting_.begin() : waiting_.end(), name);
  }
  added_.notify_one();
}

bool ExecutionQueue::has(const std::string& name) {
  std::lock_guard guard(lock_);
  return jobs_.count(name) != 0;
}

std::size_t ExecutionQueue::unfinished() {
  std::lock_guard guard(lock_);
  return jobs_.size() - done_;
}

std::size_t ExecutionQueue::kept_bytes() {
  std::lock_guard guard(lock_);
  return kept_bytes_;
}

std::optional<Outcome> ExecutionQueue::take(const std::string& name) {
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

const Outcome* ExecutionQueue::peek(const std::string& name) {
  std::lock_guard guard(lock_);
  auto job = jobs_.find(name);
  return job != jobs_.end() && job->second.done ? &job->second.outcome : nullptr;
}

void ExecutionQueue::clear() {
  std::lock_guard guard(lock_);
  for (const std::string& name : waiting_) jobs_.erase(name);
  waiting_.clear();
  std::erase_if(jobs_, [](const auto& job) { return job.second.done; });
  done_ = kept_bytes_ = 0;
}

void ExecutionQueue::work(exec::Worker& worker) {
  std::unique_lock guard(lock_);
  for (;;) {
    added_.wait(guard, [&] { return closed_ || !waiting_.empty(); });
    if (closed_) return;
    std::string name = std::move(waiting_.front());
    waiting_.pop_front();
    exec::Plan plan = std::move(jobs_.at(name).plan);
    guard.unlock();
    Outcome outcome = run_(worker, plan);
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

}  // namespace duress::verify
