// SPDX-License-Identifier: Apache-2.0
//
// _exit skips every handler; the race is still reported.
//
// EXPECT-RACE: shared write-write
// EXPECT-EXIT: 4
#include <unistd.h>

#include <thread>

#include "invisible_barrier.h"

int shared = 0;
int step = 0;

int main() {
  std::thread one([] {
    shared = 1;
    invisible_signal(&step);
  });
  invisible_wait(&step, 1);
  shared = 2;
  one.join();
  _exit(4);
}
