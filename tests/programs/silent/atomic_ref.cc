// SPDX-License-Identifier: Apache-2.0
//
// std::atomic_ref in parallel, plain access before and after.
//
// EXPECT-NO-RACE
#include <atomic>
#include <thread>
#include <vector>

int counter = 0;
double total = 0;

int main() {
  counter = 1;
  total = 0.5;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++)
    threads.emplace_back([] {
      for (int n = 0; n < 100; n++) {
        std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed);
        std::atomic_ref(total).fetch_add(1.0);
      }
    });
  for (auto& thread : threads) thread.join();
  counter--;
  return counter == 300 && total == 300.5 ? 0 : 1;
}
