// SPDX-License-Identifier: Apache-2.0
//
// A static local is shared by all threads.
//
// EXPECT-RACE: *last_id
#include <thread>

#include "invisible_barrier.h"

int step = 0;

int next_id() {
  static int last_id = 0;
  return ++last_id;
}

int main() {
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    next_id();
    invisible_signal(&step);
  });
  std::thread two([&seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    seen = next_id();
  });
  one.join();
  two.join();
  return seen == 2 ? 0 : 1;
}
