// SPDX-License-Identifier: Apache-2.0
//
// Dekker's algorithm; broken: a thread that gave way does not raise its flag again.
//
// BUG dekker_broken: -DBROKEN
// CORRECT dekker: -DTHREADS=2
// CORRECT dekker_plain: -DPLAIN
#include "mutual_exclusion.h"

static Shared<int> flag[2], turn;

static void enter(int me) {
  flag[me] = 1;
  while (flag[1 - me]) {
    if (turn == me) continue;
    flag[me] = 0;
    while (turn != me) {
    }
#ifndef BROKEN
    flag[me] = 1;
#endif
  }
}

static void leave(int me) {
  turn = 1 - me;
  flag[me] = 0;
}
