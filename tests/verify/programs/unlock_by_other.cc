// SPDX-License-Identifier: Apache-2.0
//
// A thread unlocks what another one has locked. As it is, the lock is only ever its own: nothing is found.
//
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DFAULT failure unlock-by-other
#include <atomic>
#include <mutex>
#include <thread>

std::mutex m;
std::atomic<bool> locked{false};

int main() {
  std::thread first([] {
    m.lock();
    locked = true;
    m.unlock();
  });
  std::thread second([] {
#ifdef FAULT
    if (locked) m.unlock();
#else
    if (locked) {
      m.lock();
      m.unlock();
    }
#endif
  });
  first.join();
  second.join();
}
