// SPDX-License-Identifier: Apache-2.0
#include "exec/pool.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <thread>

namespace duress::exec {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

}  // namespace

Pool::Pool(const WorkerOptions& options, unsigned jobs) {
  workers_ = make_workers(options, jobs, halt_);
  if (const char* count = std::getenv("DURESS_TEST_KILL_AT")) kill_at_ = std::strtoull(count, nullptr, 10);
}

Pool::~Pool() = default;

std::optional<Execution> Pool::execute(Worker& worker, const Plan& plan) {
  std::optional<Execution> execution = worker.run(plan);
  if (!execution) return execution;
  // A campaign must survive this at any moment; tests choose the moment.
  static std::atomic<u64> all{0};  // of all pools
  ++executions_;
  if (++all == kill_at_) kill(getpid(), SIGKILL);
  return execution;
}

bool Pool::run(u64 count, const Job& job, const Tick& tick) {
  halt_ = false;
  if (problem_.kind != WorkerProblem::Kind::kNone) return false;
  std::atomic<u64> next{0}, done{0};
  std::mutex ended_lock;
  std::condition_variable ended;
  std::size_t busy = 0;
  auto work = [&](Worker& worker) {
    while (!halt_) {
      u64 index = next.fetch_add(1);
      if (index >= count) break;
      if (job(index, worker)) {
        ++done;
        continue;
      }
      if (worker.problem().kind != WorkerProblem::Kind::kStopped &&
          worker.problem().kind != WorkerProblem::Kind::kNone) {
        std::lock_guard guard(lock_);
        if (problem_.kind == WorkerProblem::Kind::kNone) problem_ = worker.problem();
      }
      halt_ = true;
    }
    std::lock_guard guard(ended_lock);
    --busy;
    ended.notify_one();
  };
  std::vector<std::thread> threads;
  busy = std::min<u64>(workers_.size(), count);
  for (std::size_t i = 0, most = busy; i < most; ++i) threads.emplace_back([&, i] { work(*workers_[i]); });
  std::unique_lock guard(ended_lock);
  while (!ended.wait_for(guard, kTick, [&] { return busy == 0; })) {
    guard.unlock();
    if (!tick()) halt_ = true;
    guard.lock();
  }
  guard.unlock();
  for (std::thread& thread : threads) thread.join();
  return done == count;
}

u64 Pool::restarts() const {
  u64 sum = 0;
  for (const auto& worker : workers_) sum += static_cast<u64>(worker->restarts());
  return sum;
}

u64 Pool::leftovers() const {
  u64 sum = 0;
  for (const auto& worker : workers_) sum += static_cast<u64>(worker->leftovers());
  return sum;
}

}  // namespace duress::exec
