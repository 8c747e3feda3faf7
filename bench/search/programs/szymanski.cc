// SPDX-License-Identifier: Apache-2.0
//
// Szymanski's algorithm: a waiting room whose door closes.
//
// CORRECT szymanski: -DTHREADS=2
// CORRECT szymanski_3: -DTHREADS=3 -DROUNDS=1
// CORRECT szymanski_plain: -DPLAIN
#include "mutual_exclusion.h"

static Shared<int> flag[THREADS];

template <typename Test>
static bool any(int from, int to, Test test) {
  for (int i = from; i < to; ++i) {
    if (test(flag[i])) return true;
  }
  return false;
}

static void enter(int me) {
  flag[me] = 1;
  while (any(0, THREADS, [](int f) { return f >= 3; })) {
  }
  flag[me] = 3;
  if (any(0, THREADS, [](int f) { return f == 1; })) {
    flag[me] = 2;
    while (!any(0, THREADS, [](int f) { return f == 4; })) {
    }
  }
  flag[me] = 4;
  while (any(0, me, [](int f) { return f >= 2; })) {
  }
}

static void leave(int me) {
  while (any(me + 1, THREADS, [](int f) { return f == 2 || f == 3; })) {
  }
  flag[me] = 0;
}
