// SPDX-License-Identifier: Apache-2.0
//
// One thread unlocks twice, but only if the other one was quick.
//
// EXPECT-VERIFY: 2 failure double-unlock
#include <atomic>
#include <mutex>
#include <thread>

std::mutex m;
std::atomic<bool> quick{false};

int main() {
  std::thread first([] {
    m.lock();
    m.unlock();
    if (quick) m.unlock();
  });
  std::thread second([] { quick = true; });
  first.join();
  second.join();
}
