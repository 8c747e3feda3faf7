// SPDX-License-Identifier: Apache-2.0
//
// A whole program of the size of a unit test: two threads, ten operations each.
#include <atomic>
#include <iostream>
#include <mutex>
#include <thread>

int main() {
  std::mutex mutex;
  std::atomic<int> sum{0};
  auto work = [&] {
    for (int i = 0; i < 5; ++i) {
      std::lock_guard<std::mutex> guard(mutex);
      sum++;
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  std::cout << sum << "\n";
  return sum == 10 ? 0 : 1;
}
