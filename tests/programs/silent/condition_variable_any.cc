// SPDX-License-Identifier: Apache-2.0
//
// condition_variable_any with a timed wait on a shared mutex.
//
// EXPECT-NO-RACE
#include <chrono>
#include <condition_variable>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
std::condition_variable_any ready_changed;
bool ready = false;
int data = 0;

int main() {
  std::thread writer([] {
    data = 42;
    {
      std::unique_lock lock(mutex);
      ready = true;
    }
    ready_changed.notify_all();
  });
  int seen = 0;
  {
    std::shared_lock lock(mutex);
    while (!ready) ready_changed.wait_for(lock, std::chrono::milliseconds(5));
    seen = data;
  }
  writer.join();
  return seen == 42 ? 0 : 1;
}
