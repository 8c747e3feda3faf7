// SPDX-License-Identifier: Apache-2.0
//
// A relaxed rmw continues the release sequence: whoever acquires its value is ordered after the head.
//
// EXPECT-NO-RACE
#include <atomic>
#include <thread>

int data = 0;
std::atomic<int> flag = 0;

int main() {
  std::thread head([] {
    data = 42;
    flag.store(1, std::memory_order_release);
  });
  std::thread middle([] {
    int one = 1;
    while (!flag.compare_exchange_weak(one, 2, std::memory_order_relaxed)) {
      one = 1;
      std::this_thread::yield();
    }
    flag.fetch_add(1, std::memory_order_relaxed);
  });
  while (flag.load(std::memory_order_acquire) != 3) std::this_thread::yield();
  int seen = data;
  head.join();
  middle.join();
  return seen == 42 ? 0 : 1;
}
