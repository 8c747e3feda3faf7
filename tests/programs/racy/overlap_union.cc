// SPDX-License-Identifier: Apache-2.0
//
// One thread writes 8 bytes, the other reads 2 bytes in their middle.
//
// EXPECT-RACE: overlay*|Overlay::* write-read
#include <cstdint>
#include <thread>

#include "invisible_barrier.h"

union Overlay {
  uint64_t whole;
  uint16_t parts[4];
} overlay;
int step = 0;

int main() {
  int seen = 0;
  std::thread one([] {
    invisible_start(2);
    overlay.whole = 0x0004000300020001;
    invisible_signal(&step);
  });
  std::thread two([&seen] {
    invisible_start(2);
    invisible_wait(&step, 1);
    seen = overlay.parts[2];
  });
  one.join();
  two.join();
  return seen == 3 ? 0 : 1;
}
