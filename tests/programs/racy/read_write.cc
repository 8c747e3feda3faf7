// SPDX-License-Identifier: Apache-2.0
//
// The read comes first, the write after it.
//
// EXPECT-RACE: value read-write @load @store
#include <thread>

#include "invisible_barrier.h"

int value = 1;
int step = 0;

int main() {
  int seen = 0;
  std::thread one([&seen] {
    invisible_start(2);
    seen = value;  // @load
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    value = 2;  // @store
  });
  one.join();
  two.join();
  return seen == 1 ? 0 : 1;
}
