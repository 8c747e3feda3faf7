// SPDX-License-Identifier: Apache-2.0
//
// The filter lock, Peterson's for more threads.
//
// CORRECT filter_3: -DTHREADS=3 -DROUNDS=1
// CORRECT filter_plain: -DPLAIN
#include "mutual_exclusion.h"

static Shared<int> level[THREADS], victim[THREADS];

static bool somebody_at(int height, int me) {
  for (int i = 0; i < THREADS; ++i) {
    if (i != me && level[i] >= height) return true;
  }
  return false;
}

static void enter(int me) {
  for (int height = 1; height < THREADS; ++height) {
    level[me] = height;
    victim[height] = me;
    while (somebody_at(height, me) && victim[height] == me) {
    }
  }
}

static void leave(int me) {
  level[me] = 0;
}
