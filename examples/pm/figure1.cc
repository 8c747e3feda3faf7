// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 1: store buffering. Both reads may return 0 although no interleaving allows it.
// With an argument the first thread comes first in every run, here and in the other figures.
//
// EXPECT-VERDICT: x destructive exit:1
// EXPECT-VERDICT: y destructive exit:1
// EXPECT-RACE: x
// EXPECT-RACE: y
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
    y = 1;
    r1 = x;
    if (ordered) invisible_signal(&first_done);
  });
  std::thread second([&] {
    if (ordered) invisible_start(2);
    if (ordered) invisible_wait(&first_done, 1);
    x = 1;
    r2 = y;
  });
  first.join();
  second.join();
  return r1 != 0 || r2 != 0 ? 0 : 1;
}
