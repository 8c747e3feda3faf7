// SPDX-License-Identifier: Apache-2.0
#include "exec/worker_pool.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <locale>
#include <string>
#include <system_error>

#include "exec/processor.h"
#include "trail/ahead.h"

namespace duress::exec {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

/// libstdc++ fills the table of std::ctype<char>::narrow when a regular expression first asks for a
/// character, without a lock (GCC bug 77704): workers would race. Filled before they start, it is only read.
void fill_character_table() {
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  const auto& table = std::use_facet<std::ctype<char>>(std::locale());
  std::string narrow(all.size(), '\0');
  table.narrow(all.data(), all.data() + all.size(), '\0', narrow.data());
  for (char c : all) (void)table.narrow(c, '\0');
}

}  // namespace

WorkerPool::WorkerPool(const WorkerOptions& options, unsigned jobs) {
  fill_character_table();
  for (unsigned i = 0; i < std::max(1u, jobs); ++i) {
    WorkerOptions own = options;
    own.folder += "/w" + std::to_string(i);
    if (jobs > 1) own.processor = static_cast<int>(i);
    workers_.push_back(std::make_unique<Worker>(std::move(own), &halt_));
  }
  if (const char* count = std::getenv("DURESS_TEST_KILL_AT")) kill_at_ = std::strtoull(count, nullptr, 10);
}

WorkerPool::~WorkerPool() = default;

std::optional<Execution> WorkerPool::execute(Worker& worker, const Plan& plan) {
  std::optional<Execution> execution = worker.run(plan);
  if (execution) count_execution();
  return execution;
}

Result WorkerPool::execute(Worker& worker, const Plan& plan, const Oracle& oracle, Logs logs,
                           const Lookahead& lookahead) {
  Result result = worker.run(plan, oracle, logs, lookahead);
  if (result.usable()) count_execution();
  return result;
}

void WorkerPool::count_execution() {
  // A campaign must survive this at any moment; tests choose the moment.
  static std::atomic<u64> all{0};  // of all pools
  ++executions_;
  if (++all == kill_at_) kill(getpid(), SIGKILL);
}

void WorkerPool::start(std::size_t count, std::function<void(Worker&)> body) {
  running_ = std::min(count, workers_.size());
  for (std::size_t i = 0, most = running_; i < most; ++i) {
    auto work = [this, i, body] {
      use_all_processors();  // whatever the thread that starts it keeps to
      body(*workers_[i]);
      std::lock_guard guard(lock_);
      --running_;
      ended_.notify_one();
    };
    try {
      threads_.emplace_back(work);
    } catch (const std::system_error&) {  // no thread (ulimit -u): those that there are do all of it
      std::lock_guard guard(lock_);
      running_ -= most - i;
      if (i == 0) throw;
      return;
    }
  }
}

void WorkerPool::join(const Tick& tick) {
  std::unique_lock guard(lock_);
  while (!ended_.wait_for(guard, kTick, [&] { return running_ == 0; })) {
    guard.unlock();
    if (tick && !tick()) halt();
    guard.lock();
  }
  guard.unlock();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

u64 WorkerPool::piece_of(u64 count) const {
  constexpr u64 kMost = trail::Ahead::kMost + 1, kEach = 4;
  return workers_.size() == 1 ? kMost : std::clamp(count / (kEach * workers_.size()), u64{1}, kMost);
}

bool WorkerPool::run(u64 count, const Job& job, const Tick& tick, u64 piece) {
  resume();
  if (problem_.kind != WorkerProblem::Kind::kNone) return false;
  std::atomic<u64> next{0}, done{0};
  start(count, [&](Worker& worker) {
    u64 index = 0, end = 0;
    for (; !halt_; ++index) {
      if (index == end) {
        index = next.fetch_add(piece);
        end = index + piece;
      }
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
      halt();
    }
  });
  join(tick);
  return done == count;
}

u64 WorkerPool::restarts() const {
  u64 sum = 0;
  for (const auto& worker : workers_) sum += static_cast<u64>(worker->restarts());
  return sum;
}

u64 WorkerPool::repeats() const {
  u64 sum = 0;
  for (const auto& worker : workers_) sum += static_cast<u64>(worker->repeats());
  return sum;
}

u64 WorkerPool::leftovers() const {
  u64 sum = 0;
  for (const auto& worker : workers_) sum += static_cast<u64>(worker->leftovers());
  return sum;
}

}  // namespace duress::exec
