// SPDX-License-Identifier: Apache-2.0
//
// Home-made locks: test-and-set, ticket, and compare-exchange with a relaxed failure order.
//
// EXPECT-NO-RACE
#include <atomic>
#include <thread>
#include <vector>

struct TestAndSet {
  std::atomic_flag flag = ATOMIC_FLAG_INIT;
  void lock() {
    while (flag.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { flag.clear(std::memory_order_release); }
};

struct Ticket {
  std::atomic<unsigned> next{0}, serving{0};
  void lock() {
    unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
    while (serving.load(std::memory_order_acquire) != mine) std::this_thread::yield();
  }
  void unlock() { serving.store(serving.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
};

struct CompareExchange {
  std::atomic<int> held{0};
  void lock() {
    int expected = 0;
    while (!held.compare_exchange_weak(expected, 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      expected = 0;
      std::this_thread::yield();
    }
  }
  void unlock() { held.store(0, std::memory_order_release); }
};

template <typename Lock>
int count() {
  Lock lock;
  int counter = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; i++) {
        lock.lock();
        counter++;
        lock.unlock();
      }
    });
  for (auto& thread : threads) thread.join();
  return counter;
}

int main() {
  return count<TestAndSet>() + count<Ticket>() + count<CompareExchange>() == 900 ? 0 : 1;
}
