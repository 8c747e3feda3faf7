// SPDX-License-Identifier: Apache-2.0
//
// Per-thread results are looked at for a progress display, and added after the join.
//
// truth: partial[] harmless: the display only has to be between nothing and everything; the sum is exact because it is taken after the join
#include <thread>

int partial[3];

void work(int self) {
  for (int i = 0; i < 4; ++i) partial[self] += 1;
}

int sum() {
  return partial[0] + partial[1] + partial[2];
}

int main() {
  std::thread threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = std::thread(work, i);
  int shown = sum();
  for (std::thread& thread : threads) thread.join();
  return shown >= 0 && shown <= 12 && sum() == 12 ? 0 : 1;
}
