// SPDX-License-Identifier: Apache-2.0
//
// Many readers at once, joined, then a write, then readers again: read clocks must collapse.
//
// EXPECT-NO-RACE
#include <thread>
#include <vector>

#include "invisible_barrier.h"

int data[32];
int arrived[10];

int main() {
  for (int round = 0; round < 10; round++) {
    for (int& value : data) value = round;
    std::vector<std::thread> threads;
    int sums[5] = {};
    for (int t = 0; t < 5; t++)
      threads.emplace_back([&sums, t, round] {
        invisible_barrier(&arrived[round], 5);
        for (int value : data) sums[t] += value;
      });
    for (auto& thread : threads) thread.join();
    for (int sum : sums)
      if (sum != 32 * round) return 1;
  }
  return 0;
}
