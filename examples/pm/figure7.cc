// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, figure 7: out of thin air. Racy, but 42 can come from nowhere.
//
// EXPECT-VERDICT: x same-value
// EXPECT-VERDICT: y same-value
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
    r1 = x;
    y = r1;
    if (ordered) invisible_signal(&first_done);
  });
  std::thread second([&] {
    if (ordered) invisible_start(2);
    if (ordered) invisible_wait(&first_done, 1);
    r2 = y;
    x = r2;
  });
  first.join();
  second.join();
  return r1 != 42 ? 0 : 1;
}
