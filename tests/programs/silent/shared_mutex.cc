// SPDX-License-Identifier: Apache-2.0
//
// std::shared_mutex and std::shared_timed_mutex, blocking and trying.
//
// EXPECT-NO-RACE
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

std::shared_mutex mutex;
std::shared_timed_mutex timed;
int first = 0, second = 0;

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([t] {
      for (int i = 0; i < 100; i++) {
        if (i % 4 == t) {
          std::unique_lock a(mutex);
          first++;
          std::unique_lock b(timed, std::chrono::seconds(100));
          second++;
        } else {
          std::shared_lock a(mutex);
          std::shared_lock b(timed, std::try_to_lock);
          if (b && first != second) std::abort();
        }
      }
    });
  for (auto& thread : threads) thread.join();
  return first == 100 && second == 100 ? 0 : 1;
}
