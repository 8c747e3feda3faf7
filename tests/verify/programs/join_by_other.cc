// SPDX-License-Identifier: Apache-2.0
//
// The thread that joins is not the one that made it.
//
// EXPECT-VERIFY: * race x
// VERIFY-FIX: make x atomic
#include <thread>

int x = 0;
int seen = 0;

int main() {
  std::thread first([] { x = 1; });
  std::thread second([&first] {
    seen = x;
    first.join();
  });
  second.join();
  return seen == 7;
}
