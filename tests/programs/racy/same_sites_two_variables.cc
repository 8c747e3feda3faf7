// SPDX-License-Identifier: Apache-2.0
//
// One function, called for two variables: the sites are the same, the racy variables are two.
//
// EXPECT-RACE: first_total
// EXPECT-RACE: second_total
#include <thread>

#include "invisible_barrier.h"

int first_total = 0, second_total = 0;
int step = 0;

__attribute__((noinline)) void add(int* total) {
  *total += 1;
}

int main() {
  std::thread one([] {
    invisible_start(2);
    add(&first_total);
    add(&second_total);
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    add(&first_total);
    add(&second_total);
  });
  one.join();
  two.join();
  return first_total == 2 && second_total == 2 ? 0 : 1;
}
