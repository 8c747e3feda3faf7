// SPDX-License-Identifier: Apache-2.0
//
// Java RaceFinder, class Simple: a producer announces data with a plain flag. Both are racy.
//
// EXPECT-RACE: Simple::data write-read @produce @consume
// EXPECT-RACE: Simple::done write-read @notify @spin
// VERIFY-FIX: make Simple::done atomic (acquire and release are enough)
// EXPECT-VERIFY: * race Simple::data
// EXPECT-VERIFY: * race Simple::done
#include <thread>

#include "invisible_barrier.h"

struct Simple {
  int data = 0;
  bool done = false;
};

Simple simple;
int produced = 0;

int main() {
  bool right = false;
  std::thread producer([] {
    invisible_start(2);
    simple.data = 42;    // @produce
    simple.done = true;  // @notify
    invisible_signal(&produced);
  });
  std::thread consumer([&right] {
    invisible_start(2);
    invisible_wait(&produced, 1);
    while (!simple.done) std::this_thread::yield();  // @spin
    right = simple.data == 42;                       // @consume
  });
  producer.join();
  consumer.join();
  return right ? 0 : 1;
}
