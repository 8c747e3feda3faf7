// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figure 4: a race in which the read comes first. x is written only by who has seen y, and y only
// after x was read; so under sequential consistency, and with all older values, the read returns 0. The
// memory models of Java and C++ let it return what is written later.
//
// EXPECT-VERDICT: x destructive
// EXPECT-VERDICT: y destructive exit:1
// EXPECT-RACE: x read-write
// EXPECT-RACE: y write-read
// RUN-ARGS: ordered
#include <thread>

#include "invisible_barrier.h"

int x = 0, y = 0;
int looked = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  int seen = 0;
  std::thread first([&] {
    if (ordered) invisible_start(2);
    seen = x;
    y = 1;
    if (ordered) invisible_signal(&looked);
  });
  std::thread second([&] {
    if (ordered) invisible_start(2);
    if (ordered) invisible_wait(&looked, 1);
    if (y == 1) x = 1;
  });
  first.join();
  second.join();
  return seen == 0 ? 0 : 1;
}
