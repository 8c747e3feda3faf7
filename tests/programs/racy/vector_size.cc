// SPDX-License-Identifier: Apache-2.0
//
// push_back in one thread, size in the other: the race is on the vector itself.
//
// EXPECT-RACE: numbers|*_M_finish write-read
#include <thread>
#include <vector>

#include "invisible_barrier.h"

std::vector<int> numbers;
int step = 0;

int main() {
  numbers.reserve(10);
  size_t seen = 0;
  std::thread one([] {
    invisible_start(2);
    numbers.push_back(1);
    invisible_signal(&step);
  });
  std::thread two([&seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    seen = numbers.size();
  });
  one.join();
  two.join();
  return seen == 1 ? 0 : 1;
}
