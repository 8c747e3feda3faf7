// SPDX-License-Identifier: Apache-2.0
//
// A detached thread is never joined: main's later read races.
//
// EXPECT-RACE: result write-read
#include <thread>

#include "invisible_barrier.h"

int result = 0;
int step = 0;

int main() {
  std::thread([] {
    result = 1;
    invisible_signal(&step);
  }).detach();
  invisible_wait(&step, 1);
  return result == 1 ? 0 : 1;
}
