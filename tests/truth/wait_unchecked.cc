// SPDX-License-Identifier: Apache-2.0
//
// The condition is tested before the lock is taken, and not again.
//
// truth: opened destructive deadlock: the door may open between the test and the wait
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable door;
bool opened = false;

int main() {
  std::thread guest([] {
    if (opened) return;
    std::unique_lock lock(mutex);
    door.wait(lock);
  });
  {
    std::lock_guard guard(mutex);
    opened = true;
  }
  door.notify_all();
  guest.join();
  return 0;
}
