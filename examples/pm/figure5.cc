// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 5: a busy wait on a plain variable. Stale values never end it; future values
// break the assertion.
//
// EXPECT-VERDICT: y destructive
// EXPECT-VERDICT: x no-harm-found
// EXPECT-RACE: x read-write
// EXPECT-RACE: y write-read
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0;
int first_done = 0;

int main() {
  int r = 0;
  std::thread first([&] {
    invisible_start(2);
    r = x;
    y = 1;
    invisible_signal(&first_done);
  });
  std::thread second([] {
    invisible_start(2);
    invisible_wait(&first_done, 1);
    while (y == 0) std::this_thread::yield();
    x = 1;
  });
  first.join();
  second.join();
  return r == 0 ? 0 : 1;
}
