// SPDX-License-Identifier: Apache-2.0
//
// Several variables with several racing pairs each: a thread pool that is stopped without its lock, and counters of three kinds.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

struct Pool {
  std::mutex mutex;
  std::condition_variable changed;
  std::queue<std::function<void()>> queue;
  bool stop = false;
  int done = 0;   // nothing depends on it
  int taken = 0;  // an update that is lost makes the program fail
  std::vector<std::thread> workers;

  void work() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return stop || !queue.empty(); });
        if (queue.empty()) return;
        job = std::move(queue.front());
        queue.pop();
      }
      job();
      ++taken;
      ++done;
    }
  }
};

int main() {
  Pool pool;
  for (int i = 0; i < 2; ++i) pool.queue.push([] {});
  for (int i = 0; i < 2; ++i) pool.workers.emplace_back([&pool] { pool.work(); });
  pool.stop = true;
  pool.changed.notify_all();
  for (std::thread& worker : pool.workers) worker.join();
  return pool.taken == 2 ? 0 : 1;
}
