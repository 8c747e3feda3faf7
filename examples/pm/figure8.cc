// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 8: compilers that merge the two reads of y make r2 == 1 possible. The
// value that the first thread reads too early is written because it was read; that on y alone proves nothing.
//
// EXPECT-VERDICT: x destructive exit:1
// EXPECT-VERDICT: y no-harm-found
// EXPECT-RACE: x read-write
// EXPECT-RACE: y write-read
// RUN-ARGS: ordered
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0;
int first_done = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  int r1 = 0, r2 = 0;
  std::thread first([&] {
    if (ordered) invisible_start(2);
    r1 = x;
    y = r1;
    if (ordered) invisible_signal(&first_done);
  });
  std::thread second([&] {
    if (ordered) invisible_start(2);
    if (ordered) invisible_wait(&first_done, 1);
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
