// SPDX-License-Identifier: Apache-2.0
//
// exit() while other threads are alive and busy: the race seen before is still reported.
//
// EXPECT-RACE: shared write-write
// EXPECT-EXIT: 3
#include <cstdlib>
#include <thread>

#include "invisible_barrier.h"

int shared = 0;
int step = 0;
int spinning[16];

int main() {
  std::thread([] {
    shared = 1;
    invisible_signal(&step);
    for (;;) spinning[0]++, std::this_thread::yield();
  }).detach();
  invisible_wait(&step, 1);
  shared = 2;
  std::exit(3);
}
