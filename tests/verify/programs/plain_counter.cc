// SPDX-License-Identifier: Apache-2.0
//
// Nobody holds a lock. An update is one step if the counter is atomic.
//
// EXPECT-VERIFY: 4 race counter
// EXPECT-VERIFY: 4 failure assertion
// VERIFY-FIX: make counter atomic (relaxed is enough
#include <cassert>
#include <thread>

int counter = 0;

int main() {
  std::thread first([] { ++counter; });
  std::thread second([] { ++counter; });
  first.join();
  second.join();
  assert(counter == 2);
}
