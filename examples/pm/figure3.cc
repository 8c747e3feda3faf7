// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 3: as figure 2, but the store to x depends on what was read. No memory model
// lets the assertion fail: the races on x and y do no harm.
//
// EXPECT-VERDICT: x no-harm-found
// EXPECT-VERDICT: y no-harm-found
// EXPECT-RACE: x write-read
// EXPECT-RACE: y read-write
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0;
int second_done = 0;

int main() {
  int r1 = 0, r2 = 0;
  std::thread first([&] {
    invisible_start(2);
    invisible_wait(&second_done, 1);
    r1 = x;
    y = 1;
  });
  std::thread second([&] {
    invisible_start(2);
    r2 = y;
    if (r2 == 0) x = 1;
    invisible_signal(&second_done);
  });
  first.join();
  second.join();
  return r1 == 0 || r2 == 0 ? 0 : 1;
}
