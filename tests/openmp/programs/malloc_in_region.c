// SPDX-License-Identifier: Apache-2.0
//
// Blocks that threads get, fill, hand over at a barrier and free.
//
// WRONG: heap*|*p*
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "meet.h"

static int* blocks[2];

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    int me = omp_get_thread_num();
    blocks[me] = calloc(1, sizeof(int));
#pragma omp barrier
    int* p = blocks[1 - me];
    *p = me;
#ifdef WRONG
    sum += *blocks[me];
#endif
#pragma omp barrier
    sum += *blocks[me];
    free(blocks[me]);
  }
  return sum < 0;
}
