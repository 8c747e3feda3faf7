// SPDX-License-Identifier: Apache-2.0
//
// A statistics counter that nobody reads in this run.
//
// truth: hits harmless: increments may be lost, and nothing depends on the number
#include <mutex>
#include <thread>

std::mutex mutex;
int hits = 0;
int sum = 0;

void serve(int request) {
  ++hits;
  std::lock_guard guard(mutex);
  sum += request;
}

int main() {
  std::thread threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = std::thread(serve, i + 1);
  for (std::thread& thread : threads) thread.join();
  return sum == 6 ? 0 : 1;
}
