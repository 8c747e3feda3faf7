// SPDX-License-Identifier: Apache-2.0
//
// A wait with a timeout: that it may come early is explored if it is asked for; else the answer says so.
//
// EXPECT-VERIFY: * none
// VERIFY-BOUND: (--timeouts explores most), first at timeout.cc:25, on changed
// VERIFY-ASSUMES: waits end only by signals
#include <chrono>
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
    std::unique_lock guard(m);
    changed.wait_for(guard, std::chrono::seconds(1), [] { return ready; });
  }
  other.join();
}
