// SPDX-License-Identifier: Apache-2.0
//
// 300 threads write 300 locations, each location by two unordered threads: every one is reported.
//
// EXPECT-RACE: cells[*] write-write
#include <thread>
#include <vector>

#include "invisible_barrier.h"

constexpr int kThreads = 300;
int cells[kThreads + 1];
int written = 0;

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++)
    threads.emplace_back([t] {
      cells[t] = t;
      invisible_barrier(&written, kThreads);
      cells[t + 1] = t;
    });
  for (auto& thread : threads) thread.join();
  return 0;
}
