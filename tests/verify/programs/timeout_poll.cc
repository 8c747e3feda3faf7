// SPDX-License-Identifier: Apache-2.0
//
// A loop that looks every now and then: nobody signals. After so many early timeouts in a row the next one
// comes when nothing else can happen.
//
// EXPECT-VERIFY: 3 none
// VERIFY-FLAGS: --timeouts
// VERIFY-ASSUMES: waits end only by signals
// VERIFY-WITH: --timeouts=2: 4 none
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex m;
std::condition_variable changed;
bool done = false;

int main() {
  std::thread worker([] {
    std::lock_guard guard(m);
    done = true;
  });
  {
    std::unique_lock lock(m);
    while (!done) changed.wait_for(lock, std::chrono::milliseconds(100));
  }
  worker.join();
}
