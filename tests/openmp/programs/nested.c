// SPDX-License-Identifier: Apache-2.0
//
// A region in a region: the inner team shares what its own thread made.
//
// WRONG: shared
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int shared, sums[2];

int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    int outer = omp_get_thread_num();
    int own[2] = {0, 0};
#pragma omp parallel num_threads(2)
    {
      own[omp_get_thread_num()] = 1;
#ifdef WRONG
      shared = outer;
#endif
    }
    sums[outer] = own[0] + own[1];
  }
  return sums[0] != 2;
}
