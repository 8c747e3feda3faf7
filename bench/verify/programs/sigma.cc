// SPDX-License-Identifier: Apache-2.0
//
// The main thread counts up while it creates threads, each of which marks the slot that the number names.
//
// EXECUTIONS: sc 2: 3, 3: 15, 4: 105
// EXECUTIONS: rf 2: 2, 3: 6, 4: 24, 5: 120
// SOURCE: 1 x 3 x 5 x ... x (2N-1), found by brute force (brute_force.py); rf: N!, so too
#include "threads.h"

std::atomic<int> index_of_next, slots[16];

int main(int argc, char** argv) {
  const int n = number(argc, argv, 3);
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) {
    index_of_next.store(i);
    threads.emplace_back([] { slots[index_of_next.load()].store(1); });
  }
  for (std::thread& thread : threads) thread.join();
}
