// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 4: a check for zero and the division read x twice.
//
// EXPECT-VERDICT: x destructive
// EXPECT-RACE: x write-read
#include <thread>

#include "invisible_barrier.h"

int x = 0;
int first_done = 0;

int main() {
  int r1 = 14, r2 = 0;
  std::thread first([] {
    invisible_start(2);
    x = 7;
    invisible_signal(&first_done);
  });
  std::thread second([&] {
    invisible_start(2);
    invisible_wait(&first_done, 1);
    if (x != 0) r2 = r1 / x;
  });
  first.join();
  second.join();
  return r2 == 2 ? 0 : 1;
}
