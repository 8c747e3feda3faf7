// SPDX-License-Identifier: Apache-2.0
//
// The counter of an inner loop, declared outside of the region: private, or forgotten.
//
// WRONG: j
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int sums[16];
static int j;

#ifdef WRONG
#define PRIVATE
#else
#define PRIVATE private(j)
#endif

int main(void) {
#pragma omp parallel for num_threads(2) PRIVATE
  for (int i = 0; i < 16; i++)
    for (j = 0; j < 4; j++) sums[i] += 1;
  return sums[3] < 0;
}
