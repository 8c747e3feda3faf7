// SPDX-License-Identifier: Apache-2.0
//
// Neighbouring bytes, halves and fields of one word, each used by one thread: never a race.
//
// EXPECT-NO-RACE
// SUITE: fast
#include <cstdint>
#include <thread>

#include "invisible_barrier.h"

struct Mixed {
  uint8_t a;
  uint8_t b;
  uint16_t c;
  uint32_t d;
} mixed __attribute__((aligned(8)));
char bytes[64];
int started = 0;

int main() {
  std::thread first([] {
    invisible_barrier(&started, 2);
    for (int i = 0; i < 100; i++) {
      mixed.a++;
      mixed.c++;
      for (int n = 0; n < 64; n += 2) bytes[n]++;
    }
  });
  std::thread second([] {
    invisible_barrier(&started, 2);
    for (int i = 0; i < 100; i++) {
      mixed.b++;
      mixed.d++;
      for (int n = 1; n < 64; n += 2) bytes[n]++;
    }
  });
  first.join();
  second.join();
  for (char byte : bytes)
    if (byte != 100) return 1;
  return mixed.a == 100 && mixed.b == 100 && mixed.c == 100 && mixed.d == 100 ? 0 : 1;
}
