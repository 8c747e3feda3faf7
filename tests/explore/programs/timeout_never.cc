// SPDX-License-Identifier: Apache-2.0
//
// Waits for an answer for an hour: programs take such a time for "never", so it passes only when nothing else can
// happen (docs/adr/0006-timers.md).
//
// EXPECT-NO-FAILURE
// RUN-ARGS: 3600
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

std::mutex lock;
std::condition_variable changed;
int answer = 0;

int main(int count, char** arguments) {
  std::chrono::seconds patience(count > 1 ? std::atoi(arguments[1]) : 1);
  std::thread thinker([] {
    std::lock_guard guard(lock);
    answer = 42;
    changed.notify_one();
  });
  {
    std::unique_lock guard(lock);
    changed.wait_for(guard, patience, [] { return answer != 0; });
    assert(answer == 42);
  }
  thinker.join();
}
