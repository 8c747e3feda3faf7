// SPDX-License-Identifier: Apache-2.0
//
// std::timed_mutex: try_lock, try_lock_for and a try that fails.
//
// EXPECT-NO-RACE
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

std::timed_mutex mutex;
int data = 0;

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([] {
      for (int i = 0; i < 100;) {
        bool held = i % 2 == 0 ? mutex.try_lock() : mutex.try_lock_for(std::chrono::milliseconds(1));
        if (!held) {
          std::this_thread::yield();
          continue;
        }
        data++;
        i++;
        mutex.unlock();
      }
    });
  for (auto& thread : threads) thread.join();
  return data == 300 ? 0 : 1;
}
