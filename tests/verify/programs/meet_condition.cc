// SPDX-License-Identifier: Apache-2.0
//
// A condition with its mutex: the signal comes before the waiting thread looks, or after it waits.
//
// EXPECT-VERIFY: 2 none
// VERIFY-ASSUMES: waits end only by signals
// VERIFY-RC11: 2
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex m;
std::condition_variable changed;
bool ready = false;
int data = 0;

int main() {
  std::thread other([] {
    std::lock_guard guard(m);
    data = 42;
    ready = true;
    changed.notify_one();
  });
  {
    std::unique_lock guard(m);
    changed.wait(guard, [] { return ready; });
  }
  other.join();
  return data == 42 ? 0 : 1;
}
