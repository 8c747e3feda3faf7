// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 6: race free, because no sequentially consistent execution stores anything.
//
// EXPECT-NO-RACE
#include <thread>

int x = 0, y = 0;

int main() {
  int r1 = 0, r2 = 0;
  std::thread first([&] {
    r1 = x;
    if (r1 == 1) y = 1;
  });
  std::thread second([&] {
    r2 = y;
    if (r2 == 1) x = 1;
  });
  first.join();
  second.join();
  return r1 == 0 && r2 == 0 ? 0 : 1;
}
