// SPDX-License-Identifier: Apache-2.0
//
// The same pool, stopped under the lock.
//
// truth: Pool::done_ harmless: nothing reads it
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

struct Pool {
  std::mutex m_;
  std::condition_variable cv_;
  std::queue<std::function<void()>> q_;
  bool stop_ = false;
  int done_ = 0;
  std::vector<std::thread> workers_;

  explicit Pool(int count) {
    for (int i = 0; i < count; ++i) workers_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      std::unique_lock l(m_);
      stop_ = true;
    }
    cv_.notify_all();
    for (auto& w : workers_) w.join();
  }
  void post(std::function<void()> f) {
    {
      std::unique_lock l(m_);
      q_.push(std::move(f));
    }
    cv_.notify_one();
  }
  void work() {
    for (;;) {
      std::function<void()> f;
      {
        std::unique_lock l(m_);
        cv_.wait(l, [this] { return stop_ || !q_.empty(); });
        if (q_.empty()) return;
        f = std::move(q_.front());
        q_.pop();
      }
      f();
      ++done_;
    }
  }
};

int main() {
  Pool pool(2);
  for (int i = 0; i < 3; ++i) pool.post([] {});
  return 0;
}
