// SPDX-License-Identifier: Apache-2.0
//
// The limit comes before the racing accesses were steps: nothing is known of failures.
//
// VERIFY-FLAGS: --runs 1
// EXPECT-VERIFY: 1 race counter
// VERIFY-BOUND: races found; failures not searched for
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
