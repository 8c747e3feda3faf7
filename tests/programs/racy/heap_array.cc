// SPDX-License-Identifier: Apache-2.0
//
// An element of an array on the heap.
//
// EXPECT-RACE: *values*|heap block* write-read @store @load
#include <thread>

#include "invisible_barrier.h"

int* values;
int step = 0;

int main() {
  values = new int[100]();
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    values[40] = 7;  // @store
    values[41] = 8;
    invisible_signal(&step);
  });
  std::thread two([&seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    seen = values[40];  // @load
  });
  one.join();
  two.join();
  delete[] values;
  return seen == 7 ? 0 : 1;
}
