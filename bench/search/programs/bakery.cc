// SPDX-License-Identifier: Apache-2.0
//
// Lamport's bakery; broken: a number is chosen without saying so.
//
// BUG bakery_broken: -DBROKEN
// CORRECT bakery: -DTHREADS=2
// CORRECT bakery_plain: -DPLAIN
// CORRECT bakery_3: -DTHREADS=3 -DROUNDS=1
#include "mutual_exclusion.h"

static Shared<int> choosing[THREADS], number[THREADS];

static void enter(int me) {
#ifndef BROKEN
  choosing[me] = 1;
#endif
  int largest = 0;
  for (int i = 0; i < THREADS; ++i) {
    int other = number[i];
    if (other > largest) largest = other;
  }
  number[me] = largest + 1;
#ifndef BROKEN
  choosing[me] = 0;
#endif
  for (int i = 0; i < THREADS; ++i) {
    if (i == me) continue;
    while (choosing[i]) {
    }
    for (;;) {
      int other = number[i], mine = number[me];
      if (other == 0 || other > mine || (other == mine && i > me)) break;
    }
  }
}

static void leave(int me) {
  number[me] = 0;
}
