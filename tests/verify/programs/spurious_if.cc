// SPDX-License-Identifier: Apache-2.0
//
// A wait with no loop around it: it works as long as nobody wakes up by itself.
//
// VERIFY-ASSUMES: waits end only by signals
// EXPECT-VERIFY: 2 none
// VERIFY-WITH: --spurious: 4 failure assertion
// VERIFY-WITH: --spurious=2: 4 failure assertion
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
    if (!ready) changed.wait(lock);
    assert(ready);
  }
  other.join();
}
