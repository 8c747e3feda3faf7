// SPDX-License-Identifier: Apache-2.0
//
// An atomic and a plain access that conflict race, even with the strongest order on one side.
//
// EXPECT-RACE: stored write-read
// EXPECT-RACE: loaded write-read
// SUITE: fast
#include <thread>

#include "invisible_barrier.h"

int stored = 0, loaded = 0;
int step = 0;

int main() {
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    __atomic_store_n(&stored, 1, __ATOMIC_SEQ_CST);
    loaded = 1;
    invisible_signal(&step);
  });
  std::thread two([&seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    seen = stored + __atomic_load_n(&loaded, __ATOMIC_SEQ_CST);
  });
  one.join();
  two.join();
  return seen == 2 ? 0 : 1;
}
