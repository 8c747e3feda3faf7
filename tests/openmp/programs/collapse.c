// SPDX-License-Identifier: Apache-2.0
//
// Two loops as one: sums of rows are private to a round, or shared.
//
// WRONG: row|*row
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int grid[8][8];

int main(void) {
  int row = 0;
#ifdef WRONG
#pragma omp parallel for collapse(2) num_threads(2)
#else
#pragma omp parallel for collapse(2) num_threads(2) private(row)
#endif
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      row = i * 8;
      grid[i][j] = row + j;
    }
  return grid[7][7] < 0;
}
