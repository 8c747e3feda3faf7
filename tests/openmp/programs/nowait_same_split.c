// SPDX-License-Identifier: Apache-2.0
//
// Two loops without a barrier between: right while both give equal parts to a thread.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[64], results[64];

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 64; i++) values[i] = i;
#ifdef WRONG
#pragma omp for schedule(static, 1)
#else
#pragma omp for schedule(static)
#endif
    for (int i = 0; i < 64; i++) results[i] = values[i];
  }
  return results[1] != 1;
}
