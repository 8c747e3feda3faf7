// SPDX-License-Identifier: Apache-2.0
//
// Neighbouring bit-fields share a memory location: writing one rewrites the other.
//
// EXPECT-RACE: Flags::* write-write
#include <thread>

#include "invisible_barrier.h"

struct Flags {
  unsigned a : 3;
  unsigned b : 5;
} flags;
int step = 0;

int main() {
  std::thread one([] {
    invisible_start(2);
    flags.a = 5;
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    flags.b = 17;
  });
  one.join();
  two.join();
  return flags.a == 5 && flags.b == 17 ? 0 : 1;
}
