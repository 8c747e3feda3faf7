// SPDX-License-Identifier: Apache-2.0
//
// The flag is set and the signal sent without the lock: between the waiter's look at the flag and its wait,
// the signal reaches nobody.
//
// EXPECT-FAILURE: deadlock
// SUITE: fast
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex lock;
std::condition_variable changed;
std::atomic<bool> ready{false};

int main() {
  std::thread waiter([] {
    std::unique_lock guard(lock);
    if (!ready) changed.wait(guard);
  });
  std::thread setter([] {
    ready = true;
    changed.notify_one();
  });
  waiter.join();
  setter.join();
}
