// SPDX-License-Identifier: Apache-2.0
//
// Lamport's fast mutual exclusion; broken: y is not tested.
//
// BUG lamport_fast_broken: -DBROKEN
// CORRECT lamport_fast: -DTHREADS=2
// CORRECT lamport_fast_plain: -DPLAIN
#include "mutual_exclusion.h"

static Shared<int> b[THREADS], x, y;  // 1 + the thread; y: 0 if free

static bool somebody_inside() {
  for (int i = 0; i < THREADS; ++i) {
    if (b[i]) return true;
  }
  return false;
}

static void enter(int me) {
  for (;;) {
    b[me] = 1;
    x = me + 1;
#ifndef BROKEN
    if (y != 0) {
      b[me] = 0;
      while (y != 0) {
      }
      continue;
    }
#endif
    y = me + 1;
    if (x == me + 1) return;
    b[me] = 0;
    while (somebody_inside()) {
    }
    if (y == me + 1) return;
    while (y != 0) {
    }
  }
}

static void leave(int me) {
  y = 0;
  b[me] = 0;
}
