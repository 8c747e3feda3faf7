// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 2: load buffering. Only future values make both reads return 1.
//
// EXPECT-RACE: x read-write
// EXPECT-RACE: y write-read
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0;
int first_done = 0;

int main() {
  int r1 = 0, r2 = 0;
  std::thread first([&] {
    invisible_start(2);
    r1 = x;
    y = 1;
    invisible_signal(&first_done);
  });
  std::thread second([&] {
    invisible_start(2);
    invisible_wait(&first_done, 1);
    r2 = y;
    x = 1;
  });
  first.join();
  second.join();
  return r1 == 0 || r2 == 0 ? 0 : 1;
}
