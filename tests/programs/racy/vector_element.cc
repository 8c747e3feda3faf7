// SPDX-License-Identifier: Apache-2.0
//
// An element of a std::vector.
//
// EXPECT-RACE: * write-write
#include <thread>
#include <vector>

#include "invisible_barrier.h"

std::vector<int> numbers(100);
int step = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    numbers[10] = 1;
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    numbers[10] = 2;
  });
  one.join();
  two.join();
  return numbers[10] == 2 ? 0 : 1;
}
