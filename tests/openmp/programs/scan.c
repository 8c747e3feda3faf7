// SPDX-License-Identifier: Apache-2.0
//
// Running sums by an inclusive scan; or by hand in a shared variable.
//
// WRONG: sum|*sum|stack of T0
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[64], sums[64];

int main(void) {
  int sum = 0;
  for (int i = 0; i < 64; i++) values[i] = i;
#ifdef WRONG
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 64; i++) {
    sum += values[i];
    sums[i] = sum;
  }
#else
#pragma omp parallel for num_threads(2) reduction(inscan, + : sum)
  for (int i = 0; i < 64; i++) {
    sum += values[i];
#pragma omp scan inclusive(sum)
    sums[i] = sum;
  }
#endif
  return sums[63] < 0;
}
