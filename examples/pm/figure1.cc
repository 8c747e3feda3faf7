// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 1: store buffering. Both reads may return 0 although no interleaving allows it.
//
// EXPECT-VERDICT: y destructive
// EXPECT-VERDICT: x no-harm-found
// EXPECT-RACE: x
// EXPECT-RACE: y
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0;
int first_done = 0;

int main() {
  int r1 = 0, r2 = 0;
  std::thread first([&] {
    invisible_start(2);
    y = 1;
    r1 = x;
    invisible_signal(&first_done);
  });
  std::thread second([&] {
    invisible_start(2);
    invisible_wait(&first_done, 1);
    x = 1;
    r2 = y;
  });
  first.join();
  second.join();
  return r1 != 0 || r2 != 0 ? 0 : 1;
}
