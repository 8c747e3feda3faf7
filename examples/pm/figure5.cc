// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 5: a busy wait on a plain variable. Stale values never end it; future values
// break the assertion.
//
// EXPECT-VERDICT: x destructive exit:1
// EXPECT-VERDICT: y destructive no-end|exit:1
// EXPECT-RACE: x read-write
// EXPECT-RACE: y write-read
// RUN-ARGS: ordered
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0;
int first_done = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  int r = 0;
  std::thread first([&] {
    if (ordered) invisible_start(2);
    r = x;
    y = 1;
    if (ordered) invisible_signal(&first_done);
  });
  std::thread second([=] {
    if (ordered) invisible_start(2);
    if (ordered) invisible_wait(&first_done, 1);
    while (y == 0) std::this_thread::yield();
    x = 1;
  });
  first.join();
  second.join();
  return r == 0 ? 0 : 1;
}
