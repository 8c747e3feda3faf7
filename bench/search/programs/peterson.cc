// SPDX-License-Identifier: Apache-2.0
//
// Peterson's algorithm; broken: the turn is given before the flag is raised.
//
// BUG peterson_broken: -DBROKEN
// BUG peterson_broken_plain: -DBROKEN -DPLAIN
// CORRECT peterson: -DTHREADS=2
// CORRECT peterson_plain: -DPLAIN
#include "mutual_exclusion.h"

static Shared<int> flag[2], turn;

static void enter(int me) {
#ifdef BROKEN
  turn = 1 - me;
  flag[me] = 1;
#else
  flag[me] = 1;
  turn = 1 - me;
#endif
  while (flag[1 - me] && turn == 1 - me) {
  }
}

static void leave(int me) {
  flag[me] = 0;
}
