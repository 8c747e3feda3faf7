// SPDX-License-Identifier: Apache-2.0
//
// The loop construct, each iteration on its own element or on its neighbour's.
//
// WRONG: values*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[65];

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp loop
  for (int i = 0; i < 64; i++)
#ifdef WRONG
    values[i + 1] = values[i] + 1;
#else
    values[i] = i;
#endif
  return values[3] < 0;
}
