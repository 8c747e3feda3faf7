// SPDX-License-Identifier: Apache-2.0
//
// std::call_once and pthread_once: every return is ordered after the initialiser.
//
// EXPECT-NO-RACE
#include <pthread.h>

#include <mutex>
#include <thread>
#include <vector>

std::once_flag flag;
pthread_once_t once = PTHREAD_ONCE_INIT;
int first = 0, second = 0;

int main() {
  std::vector<std::thread> threads;
  int sums[4] = {};
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&sums, i] {
      std::call_once(flag, [] { first = 20; });
      pthread_once(&once, [] { second = 22; });
      sums[i] = first + second;
    });
  for (auto& thread : threads) thread.join();
  for (int sum : sums)
    if (sum != 42) return 1;
  return 0;
}
