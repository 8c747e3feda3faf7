// SPDX-License-Identifier: Apache-2.0
//
// Tutorial, the 50/x example: x = 10; x = 0; fork { if (x != 0) x = 50 / x; } x = 42;
// The two reads of the forked thread may see different values: 42, then a stale 0. Under sequential
// consistency no schedule fails. With an argument the forked thread comes last in every run.
//
// EXPECT-VERDICT: x destructive signal:SIGFPE
// EXPECT-RACE: x
// RUN-ARGS: ordered
#include <thread>

#include "invisible_barrier.h"

int x = 10;
int written = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  x = 0;
  std::thread forked([=] {
    if (ordered) invisible_wait(&written, 1);
    if (x != 0) x = 50 / x;
  });
  x = 42;
  if (ordered) invisible_signal(&written);
  forked.join();
  const int last = x;
  return last == 1 || (last == 42 && !ordered) ? 0 : 1;
}
