// SPDX-License-Identifier: Apache-2.0
//
// A local of main captured by reference.
//
// EXPECT-RACE: *total*
#include <thread>

#include "invisible_barrier.h"

int step = 0;

int main() {
  int total = 0;
  std::thread one([&total] {
    invisible_start(2);
    total += 1;
    invisible_signal(&step);
  });
  std::thread two([&total] {
    invisible_start(2);
    invisible_wait(&step, 1);
    total += 2;
  });
  one.join();
  two.join();
  return total == 3 ? 0 : 1;
}
