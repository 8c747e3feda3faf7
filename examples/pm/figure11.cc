// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 11: the races are on x and z; y is never written under sequential consistency.
// What the second thread reads too early is not written by the first, as in the profile, but by the third.
//
// EXPECT-VERDICT: x destructive exit:1
// EXPECT-VERDICT: z no-harm-found
// EXPECT-RACE: x read-write
// EXPECT-RACE: z write-read
// RUN-ARGS: ordered
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0, z = 0;
int second_done = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  int r1 = 0, r2 = 0, r3 = 0;
  std::thread first([&] {
    if (ordered) invisible_start(3);
    if (ordered) invisible_wait(&second_done, 1);
    r1 = z;
    if (r1 == 1) x = 1;
  });
  std::thread second([&] {
    if (ordered) invisible_start(3);
    r2 = x;
    if (r2 == 1)
      y = 1;
    else
      z = 1;
    if (ordered) invisible_signal(&second_done);
  });
  std::thread third([&] {
    if (ordered) invisible_start(3);
    r3 = y;
    if (r3 == 1) x = 1;
  });
  first.join();
  second.join();
  third.join();
  return r3 == 0 ? 0 : 1;
}
