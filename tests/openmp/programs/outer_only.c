// SPDX-License-Identifier: Apache-2.0
//
// A nest of loops of which the outer one is shared out: each row is independent; or the column before is in another row's.
//
// WRONG: grid*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int grid[16][16];

int main(void) {
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 1; i < 16; i++)
    for (int j = 1; j < 16; j++)
#ifdef WRONG
      grid[i][j] = grid[i - 1][j] + 1;
#else
      grid[i][j] = grid[i][j - 1] + 1;
#endif
  return grid[15][15] < 0;
}
