// SPDX-License-Identifier: Apache-2.0
//
// Each thread writes its place and reads the other one, with a barrier between or without.
//
// WRONG: places*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int places[2], sums[2];

int main(void) {
#pragma omp parallel num_threads(2)
  {
    int me = omp_get_thread_num();
    places[me] = me + 1;
#ifndef WRONG
#pragma omp barrier
#endif
    sums[me] = places[1 - me];
  }
  return sums[0] < 0;
}
