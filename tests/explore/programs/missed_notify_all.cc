// SPDX-License-Identifier: Apache-2.0
//
// Both waiters may go on when the gate opens, but only one of them is told.
//
// EXPECT-FAILURE: deadlock
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex lock;
std::condition_variable changed;
bool open = false;

void pass() {
  std::unique_lock guard(lock);
  changed.wait(guard, [] { return open; });
}

int main() {
  std::thread first(pass), second(pass);
  {
    std::lock_guard guard(lock);
    open = true;
  }
  changed.notify_one();  // should be notify_all
  first.join();
  second.join();
}
