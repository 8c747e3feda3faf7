// SPDX-License-Identifier: Apache-2.0
//
// Bit-fields in different memory locations (a zero-width field between them) do not race.
//
// EXPECT-NO-RACE
#include <thread>

#include "invisible_barrier.h"

struct Flags {
  unsigned a : 3;
  unsigned : 0;
  unsigned b : 5;
} flags;
int started = 0;

int main() {
  std::thread first([] {
    invisible_barrier(&started, 2);
    flags.a = 5;
  });
  std::thread second([] {
    invisible_barrier(&started, 2);
    flags.b = 17;
  });
  first.join();
  second.join();
  return flags.a == 5 && flags.b == 17 ? 0 : 1;
}
