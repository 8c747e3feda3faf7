// SPDX-License-Identifier: Apache-2.0
//
// A thread waits for an atomic to change. The store is relaxed, so what was written before it races; under
// sequential consistency the flag orders nothing less, for the detector looks at the orders as written.
//
// EXPECT-VERIFY: * race value
// VERIFY-RC11: *
#include <atomic>
#include <thread>

std::atomic<int> flag = 0;
int value = 0;

int main() {
  std::thread other([] {
    value = 1;
    flag.store(1, std::memory_order_relaxed);
    flag.notify_one();
  });
  flag.wait(0, std::memory_order_acquire);
  int seen = value;
  other.join();
  return seen == 1 ? 0 : 1;
}
