// SPDX-License-Identifier: Apache-2.0
//
// One of two threads holds the lock.
//
// EXPECT-VERIFY: 4 race counter
// EXPECT-VERIFY: 4 failure assertion
// VERIFY-FIX: hold lock at forgotten_lock.cc:
#include <cassert>
#include <mutex>
#include <thread>

std::mutex lock;
int counter = 0;

int main() {
  std::thread first([] {
    std::lock_guard guard(lock);
    ++counter;
  });
  std::thread second([] { ++counter; });
  first.join();
  second.join();
  assert(counter == 2);
}
