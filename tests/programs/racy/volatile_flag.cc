// SPDX-License-Identifier: Apache-2.0
//
// volatile is not synchronisation: both the flag and the data race.
//
// EXPECT-RACE: ready
// EXPECT-RACE: data write-read
#include <thread>

#include "invisible_barrier.h"

volatile bool ready = false;
int data = 0;

int main() {
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    data = 1;
    ready = true;
  });
  std::thread two([&seen] {
    invisible_start(2);
    while (!ready) std::this_thread::yield();
    seen = data;
  });
  one.join();
  two.join();
  return seen == 1 ? 0 : 1;
}
