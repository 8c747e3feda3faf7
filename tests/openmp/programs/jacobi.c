// SPDX-License-Identifier: Apache-2.0
//
// Two grids in turn with a barrier between the steps; or without.
//
// WRONG: grids*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int grids[2][66];

#ifdef WRONG
#define NOWAIT nowait
#else
#define NOWAIT
#endif

int main(void) {
#pragma omp parallel num_threads(2)
  for (int step = 0; step < 4; step++) {
    const int* from = grids[step % 2];
    int* to = grids[(step + 1) % 2];
#pragma omp for schedule(static) NOWAIT
    for (int i = 1; i < 65; i++) to[i] = (from[i - 1] + from[i + 1]) / 2 + 1;
  }
  return grids[0][1] < 0;
}
