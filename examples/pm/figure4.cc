// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 4: a check for zero and the division read x twice.
//
// EXPECT-VERDICT: x destructive signal:SIGFPE
// EXPECT-RACE: x write-read
// RUN-ARGS: ordered
#include <thread>

#include "invisible_barrier.h"

int x = 0;
int first_done = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  int r1 = 14, r2 = 0;
  std::thread first([=] {
    if (ordered) invisible_start(2);
    x = 7;
    if (ordered) invisible_signal(&first_done);
  });
  std::thread second([&] {
    if (ordered) invisible_start(2);
    if (ordered) invisible_wait(&first_done, 1);
    if (x != 0) r2 = r1 / x;
  });
  first.join();
  second.join();
  return r2 == 2 || (r2 == 0 && !ordered) ? 0 : 1;
}
