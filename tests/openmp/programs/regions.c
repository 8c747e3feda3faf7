// SPDX-License-Identifier: Apache-2.0
//
// One region after the other uses the memory of the first: joins order them.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[2];

int main(void) {
  for (int round = 0; round < 4; round++) {
#pragma omp parallel num_threads(2)
    {
      int me = omp_get_thread_num();
#ifdef WRONG
      values[0] = me;
#else
      values[(me + round) % 2] = me;
#endif
    }
    values[0]++;
  }
  return values[0] < 0;
}
