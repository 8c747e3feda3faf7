// SPDX-License-Identifier: Apache-2.0
//
// Two threads add to each other's number. The largest result needs each to run after each step of the other:
// one interleaving of many.
//
// BUG fibonacci_5: -DROUNDS=5 -DLARGEST=144
// BUG fibonacci_6: -DROUNDS=6 -DLARGEST=377
// BUG fibonacci_7: -DROUNDS=7 -DLARGEST=987
// CORRECT fibonacci_bound: -DROUNDS=5 -DLARGEST=145
#include "parallel.h"

static int i = 1, j = 1;

int main() {
  in_parallel(
      [] {
        for (int round = 0; round < ROUNDS; ++round) i += j;
      },
      [] {
        for (int round = 0; round < ROUNDS; ++round) j += i;
      });
  assert(i < LARGEST && j < LARGEST);
}
