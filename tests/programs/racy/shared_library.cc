// SPDX-License-Identifier: Apache-2.0
//
// The racy code is in a shared library, linked as usual.
//
// EXPECT-RACE: library_counter
// LIB: ../lib/counter.cc
#include <thread>

#include "invisible_barrier.h"

extern "C" int library_add(int);
int step = 0;

int main() {
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    library_add(1);
    invisible_signal(&step);
  });
  std::thread two([&seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    seen = library_add(1);
  });
  one.join();
  two.join();
  return seen == 2 ? 0 : 1;
}
