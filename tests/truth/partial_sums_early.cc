// SPDX-License-Identifier: Apache-2.0
//
// Per-thread results are added before the threads have been joined.
//
// truth: results[] destructive exit:1: the sum is taken while the results may be missing
#include <thread>

int results[3];

int main() {
  std::thread threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = std::thread([i] { results[i] = 10 * (i + 1); });
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum += results[i];
  for (std::thread& thread : threads) thread.join();
  return sum == 60 ? 0 : 1;
}
