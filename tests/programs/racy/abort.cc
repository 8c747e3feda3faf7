// SPDX-License-Identifier: Apache-2.0
//
// abort from a second thread, with the race in a third.
//
// EXPECT-RACE: shared write-write
// EXPECT-EXIT: SIGABRT
#include <cstdlib>
#include <thread>

#include "invisible_barrier.h"

int shared = 0;
int step = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    shared = 1;
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    shared = 2;
    std::abort();
  });
  one.join();
  two.join();
}
