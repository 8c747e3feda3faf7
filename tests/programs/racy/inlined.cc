// SPDX-License-Identifier: Apache-2.0
//
// At -O2 the access is inlined through several small functions; the site is still the source line.
//
// EXPECT-RACE: Meter::ticks write-write @tick @tick
#include <thread>

#include "invisible_barrier.h"

struct Meter {
  int ticks = 0;
  void tick() {
    ticks = ticks + 1;  // @tick
  }
};
Meter meter;
int step = 0;

inline void twice(Meter& m) {
  m.tick();
  m.tick();
}
inline void four_times(Meter& m) {
  twice(m);
  twice(m);
}

int main() {
  std::thread one([] {
    invisible_start(2);
    four_times(meter);
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    four_times(meter);
  });
  one.join();
  two.join();
  return meter.ticks == 8 ? 0 : 1;
}
