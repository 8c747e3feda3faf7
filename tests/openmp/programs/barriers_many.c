// SPDX-License-Identifier: Apache-2.0
//
// Rounds with a barrier between two phases; the wrong half leaves out the second one.
//
// WRONG: cells*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int cells[2];

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    int me = omp_get_thread_num();
    for (int round = 0; round < 8; round++) {
      cells[me] = round;
#pragma omp barrier
      sum += cells[1 - me];
#ifndef WRONG
#pragma omp barrier
#endif
    }
  }
  return sum < 0;
}
