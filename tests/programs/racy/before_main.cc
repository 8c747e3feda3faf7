// SPDX-License-Identifier: Apache-2.0
//
// Threads of a constructor race with another constructor, before main.
//
// EXPECT-RACE: early write-write
#include <thread>

#include "invisible_barrier.h"

int early = 0;
int step = 0;

struct Starter {
  std::thread thread{[] {
    early = 1;
    invisible_signal(&step);
  }};
} starter;

struct Second {
  Second() {
    invisible_wait(&step, 1);
    early = 2;
  }
} second;

int main() {
  starter.thread.join();
  return early == 2 ? 0 : 1;
}
