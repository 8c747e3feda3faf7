// SPDX-License-Identifier: Apache-2.0
//
// The same with a loop.
//
// VERIFY-ASSUMES: waits end only by signals
// EXPECT-VERIFY: 2 none
// VERIFY-WITH: --spurious: 4 none
// VERIFY-WITH: --spurious=2 --timeouts: 6 none
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex m;
std::condition_variable changed;
bool ready = false;

int main() {
  std::thread other([] {
    std::lock_guard guard(m);
    ready = true;
    changed.notify_one();
  });
  {
    std::unique_lock lock(m);
    while (!ready) changed.wait(lock);
    assert(ready);
  }
  other.join();
}
