// SPDX-License-Identifier: Apache-2.0
//
// Two threads write a global.
//
// EXPECT-RACE: counter write-write @first @second
#include <thread>

#include "invisible_barrier.h"

int counter = 0;
int step = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    counter = 1;  // @first
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    counter = 2;  // @second
  });
  one.join();
  two.join();
  return counter == 2 ? 0 : 1;
}
