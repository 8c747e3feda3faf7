// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 3: as figure 2, but the store to x depends on what was read. No memory model
// lets the assertion fail: the races on x and y do no harm.
//
// EXPECT-VERDICT: x no-harm-found
// EXPECT-VERDICT: y no-harm-found
// EXPECT-RACE: x write-read
// EXPECT-RACE: y read-write
// RUN-ARGS: ordered
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0;
int second_done = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  int r1 = 0, r2 = 0;
  std::thread first([&] {
    if (ordered) invisible_start(2);
    if (ordered) invisible_wait(&second_done, 1);
    r1 = x;
    y = 1;
  });
  std::thread second([&] {
    if (ordered) invisible_start(2);
    r2 = y;
    if (r2 == 0) x = 1;
    if (ordered) invisible_signal(&second_done);
  });
  first.join();
  second.join();
  return r1 == 0 || r2 == 0 ? 0 : 1;
}
