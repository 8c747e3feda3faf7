// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 8: compilers that merge the two reads of y make r2 == 1 possible.
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
    y = r1;
    invisible_signal(&first_done);
  });
  std::thread second([&] {
    invisible_start(2);
    invisible_wait(&first_done, 1);
    r2 = y;
    if (r2 == 1) {
      int r3 = y;
      x = r3;
    } else {
      x = 1;
    }
  });
  first.join();
  second.join();
  return r2 == 0 ? 0 : 1;
}
