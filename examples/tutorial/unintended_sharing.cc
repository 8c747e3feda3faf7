// SPDX-License-Identifier: Apache-2.0
//
// Tutorial, unintended sharing: a static local looks private but is one variable for all threads.
//
// EXPECT-RACE: *local
#include <thread>

#include "invisible_barrier.h"

int first_done = 0;

int work(int amount) {
  static int local = 0;
  local += amount;
  return local;
}

int main() {
  int sum = 0;
  std::thread first([] {
    invisible_start(2);
    work(1);
    invisible_signal(&first_done);
  });
  std::thread second([&] {
    invisible_start(2);
    invisible_wait(&first_done, 1);
    sum = work(2);
  });
  first.join();
  second.join();
  return sum == 3 ? 0 : 1;
}
