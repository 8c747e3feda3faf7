// SPDX-License-Identifier: Apache-2.0
//
// C++20 coroutines that move between the threads of a pool: a queue under a mutex hands them over, and each
// part of a coroutine comes after the one before it, whichever thread runs it.
//
// EXPECT-NO-RACE
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <mutex>
#include <thread>

struct Pool {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::coroutine_handle<>> ready;
  int left = 0;  // coroutines that have not ended

  void post(std::coroutine_handle<> handle) {
    std::lock_guard guard(mutex);
    ready.push_back(handle);
    changed.notify_one();
  }
  void ended() {
    std::lock_guard guard(mutex);
    if (--left == 0) changed.notify_all();
  }
  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return left == 0 || !ready.empty(); });
      if (ready.empty()) return;
      std::coroutine_handle<> next = ready.front();
      ready.pop_front();
      lock.unlock();
      next.resume();
      lock.lock();
    }
  }
} pool;

struct MoveOn {
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { pool.post(handle); }
  void await_resume() const {}
};

struct Job {
  struct promise_type {
    Job get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

int results[8];

Job count(int number) {
  int sum = 0;  // in the coroutine's frame
  for (int round = 0; round < 10; ++round) {
    co_await MoveOn{};
    sum += round;
    results[number] = sum;
  }
  pool.ended();
}

int main() {
  pool.left = 8;
  for (int i = 0; i < 8; ++i) count(i);
  std::thread one([] { pool.work(); }), two([] { pool.work(); });
  one.join();
  two.join();
  for (int result : results) {
    if (result != 45) return 1;
  }
}
