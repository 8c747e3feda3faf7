// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figures 1 and 8: one thread sets a pointer once, the other checks it and then follows it.
// Under sequential consistency this never fails; a memory model lets the second read of the check
// still return null. Java never shows a half-built header, so the circle here is complete before
// the threads start: the pointer is the only racy variable.
//
// EXPECT-VERDICT: x destructive signal:SIGSEGV
// EXPECT-RACE: x write-read
#include <thread>

#include "invisible_barrier.h"

struct Circle {
  int radius = 5;
  int draw() const { return radius; }
};

Circle circle;
Circle* x = nullptr;
int published = 0;

int main() {
  int drawn = 0;
  std::thread initialiser([] {
    invisible_start(2);
    x = &circle;
    invisible_signal(&published);
  });
  std::thread painter([&drawn] {
    invisible_start(2);
    invisible_wait(&published, 1);
    for (int i = 0; i < 10; i++) {
      if (x != nullptr) {
        drawn += x->draw();
        std::this_thread::yield();  // keeps the loop's reads apart at -O2
      }
    }
  });
  initialiser.join();
  painter.join();
  return drawn % 5;  // how much was painted is as it may be: only a check that lied crashes
}
