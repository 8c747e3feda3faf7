// SPDX-License-Identifier: Apache-2.0
//
// main returns while threads are still running on their own data.
//
// EXPECT-NO-RACE
// EXPECT-EXIT: 9
#include <atomic>
#include <thread>

std::atomic<int> running = 0;
int slots[3 * 16];

int main() {
  for (int t = 0; t < 3; t++)
    std::thread([t] {
      running++;
      for (;;) {
        slots[t * 16]++;
        std::this_thread::yield();
      }
    }).detach();
  while (running != 3) std::this_thread::yield();
  return 9;
}
