// SPDX-License-Identifier: Apache-2.0
//
// A lock that takes with relaxed and lets go with release: the compare-and-exchange must acquire, no more.
//
// EXPECT-VERIFY: * race counter
// VERIFY-FIX: use acquire for the compare-exchange at order_lock.cc:15
#include <atomic>
#include <thread>

std::atomic<int> taken{0};
int counter = 0;

void work() {
  int free = 0;
  while (!taken.compare_exchange_strong(free, 1, std::memory_order_relaxed, std::memory_order_relaxed))
    free = 0;
  ++counter;
  taken.store(0, std::memory_order_release);
}

int main() {
  std::thread first(work), second(work);
  first.join();
  second.join();
}
