// SPDX-License-Identifier: Apache-2.0
//
// Two loops over one array, split differently: the barrier between them is needed.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[64], results[64];

int main(void) {
#pragma omp parallel num_threads(2)
  {
#ifdef WRONG
#pragma omp for schedule(static) nowait
#else
#pragma omp for schedule(static)
#endif
    for (int i = 0; i < 64; i++) values[i] = i;
#pragma omp for schedule(static)
    for (int i = 0; i < 64; i++) results[i] = values[63 - i];
  }
  return results[0] != 63;
}
