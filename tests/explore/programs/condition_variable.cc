// SPDX-License-Identifier: Apache-2.0
//
// A gate as it should be: a predicate, changed under the lock, and all are told.
//
// EXPECT-NO-FAILURE
// WITHIN: 300
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
  changed.notify_all();
  first.join();
  second.join();
}
