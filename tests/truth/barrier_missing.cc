// SPDX-License-Identifier: Apache-2.0
//
// Phases without a barrier between them.
//
// truth: cells[] destructive exit:1: a neighbour may not have written its cell yet
#include <thread>

int cells[3];
int sums[3];

int main() {
  std::thread threads[3];
  for (int i = 0; i < 3; ++i) {
    threads[i] = std::thread([i] {
      cells[i] = 5;
      sums[i] = cells[i] + cells[(i + 1) % 3];
    });
  }
  for (std::thread& thread : threads) thread.join();
  return sums[0] == 10 && sums[1] == 10 && sums[2] == 10 ? 0 : 1;
}
