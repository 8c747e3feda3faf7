// SPDX-License-Identifier: Apache-2.0
//
// Waits without a loop, so it takes every wake-up for the one it waits for. Nothing is wrong but that a wait
// may return without a signal.
//
// EXPECT-FAILURE: assertion
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex lock;
std::condition_variable changed;
bool ready = false;

int main() {
  std::thread waiter([] {
    std::unique_lock guard(lock);
    if (!ready) changed.wait(guard);
    assert(ready);
  });
  {
    std::lock_guard guard(lock);
    ready = true;
    changed.notify_one();
  }
  waiter.join();
}
