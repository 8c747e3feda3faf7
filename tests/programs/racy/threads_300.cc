// SPDX-License-Identifier: Apache-2.0
//
// 300 threads at once; only the first and the last touch the racy variable.
//
// EXPECT-RACE: rare write-write
// OTHER-TOOLS: differ (ThreadSanitizer keeps 256 threads apart)
#include <thread>
#include <vector>

#include "invisible_barrier.h"

constexpr int kThreads = 300;
int rare = 0;
int slots[kThreads];
int alive = 0, step = 0;

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++)
    threads.emplace_back([t] {
      invisible_barrier(&alive, kThreads);
      slots[t] = t;
      if (t == 0) {
        rare = 1;
        invisible_signal(&step);
      } else if (t == kThreads - 1) {
        invisible_wait(&step, 1);
        rare = 2;
      }
    });
  for (auto& thread : threads) thread.join();
  return rare == 2 && slots[299] == 299 ? 0 : 1;
}
