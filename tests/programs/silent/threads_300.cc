// SPDX-License-Identifier: Apache-2.0
//
// 300 threads alive at once, each with its own slot, all under one mutex; then 600 more one after another.
//
// EXPECT-NO-RACE
#include <mutex>
#include <thread>
#include <vector>

#include "invisible_barrier.h"

constexpr int kThreads = 300;
std::mutex mutex;
int total = 0, alive = 0;
int slots[kThreads];

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++)
    threads.emplace_back([t] {
      invisible_barrier(&alive, kThreads);
      slots[t] = 1;
      for (int i = 0; i < 5; i++) {
        std::lock_guard lock(mutex);
        total++;
      }
    });
  for (auto& thread : threads) thread.join();
  for (int t = 0; t < 600; t++) std::thread([] { total++; }).join();
  for (int slot : slots) total += slot;
  return total == kThreads * 6 + 600 ? 0 : 1;
}
