// SPDX-License-Identifier: Apache-2.0
//
// A loop of tasks over an array; the wrong half adds to one variable.
//
// WRONG: sum
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[64], sum;
static int arrived;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop grainsize(32)
    for (int i = 0; i < 64; i++) {
#ifdef WRONG
      if (i % 32 == 0) meet(&arrived);
      sum += i;
#else
      values[i] = i;
#endif
    }
    for (int i = 0; i < 64; i++) arrived += values[i];
  }
  return sum < 0;
}
