// SPDX-License-Identifier: Apache-2.0
//
// A maximum and a product, read after the loop: with a nowait only after the barrier.
//
// WRONG: largest
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[64];
static int largest;

int main(void) {
  for (int i = 0; i < 64; i++) values[i] = i * 7 % 64;
  int seen = 0;
#pragma omp parallel num_threads(2)
  {
#ifdef WRONG
    if (omp_get_thread_num() == 0) largest = values[1];
    if (omp_get_thread_num() == 1) largest = values[2];
#else
#pragma omp for reduction(max : largest)
    for (int i = 0; i < 64; i++)
      if (values[i] > largest) largest = values[i];
#endif
#pragma omp masked
    seen = largest;
  }
  return seen < 0;
}
