// SPDX-License-Identifier: Apache-2.0
//
// A thread pool with short tasks: one thread submits closures in batches of 512 and waits for each batch,
// `threads` workers take them from one queue. Every task changes 256 of `data` numbers; `work` tasks.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "../kernel.h"

namespace {
constexpr long kNumbers = 256, kBatch = 512;

class Pool {
 public:
  void submit(std::function<void()> task) {
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      unfinished_++;
    }
    changed_.notify_one();
  }
  void wait_until_idle() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return unfinished_ == 0; });
  }
  void stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  /// The loop of a worker.
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
      if (--unfinished_ == 0) idle_.notify_all();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<std::function<void()>> tasks_;
  long unfinished_ = 0;
  bool stopped_ = false;
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 40000, 512 * 256);
  const long chunks = std::max(data / kNumbers, kBatch);
  std::vector<uint64_t> numbers(chunks * kNumbers);
  for (size_t i = 0; i < numbers.size(); i++) numbers[i] = i;
  Pool pool;
  auto submit = [&, work = work] {
    // All tasks of a batch work on different chunks.
    for (long task = 0; task < work; task++) {
      uint64_t* chunk = &numbers[task * 7919 % chunks * kNumbers];
      pool.submit([chunk, task] {
        for (long i = 0; i < kNumbers; i++)
          chunk[i] = (chunk[i] ^ chunk[(i + task) % kNumbers]) * 0x9e3779b97f4a7c15u + task;
      });
      if (task % kBatch == kBatch - 1) pool.wait_until_idle();
    }
    pool.wait_until_idle();
    pool.stop();
  };
  bench::parallel(threads + 1, [&, threads = threads](int t) { t == threads ? submit() : pool.work(); });
  uint64_t checksum = 0;
  for (uint64_t number : numbers) checksum = checksum * 31 + number;
  return bench::finish(checksum);
}
