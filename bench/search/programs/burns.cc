// SPDX-License-Identifier: Apache-2.0
//
// Burns and Lynch: one bit for each thread.
//
// CORRECT burns_3: -DTHREADS=3 -DROUNDS=1
// CORRECT burns_plain: -DPLAIN
#include "mutual_exclusion.h"

static Shared<int> flag[THREADS];

static void enter(int me) {
  for (bool lower = true; lower;) {
    flag[me] = 0;
    for (int i = 0; i < me; ++i) {
      while (flag[i]) {
      }
    }
    flag[me] = 1;
    lower = false;
    for (int i = 0; i < me; ++i) lower = lower || flag[i] != 0;
  }
  for (int i = me + 1; i < THREADS; ++i) {
    while (flag[i]) {
    }
  }
}

static void leave(int me) {
  flag[me] = 0;
}
