// SPDX-License-Identifier: Apache-2.0
//
// A taskloop that sums up: by a reduction, or into the shared variable.
//
// WRONG: sum|*sum|stack of T0
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int arrived;

#ifdef WRONG
#define REDUCTION shared(sum)
#else
#define REDUCTION reduction(+ : sum)
#endif

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop num_tasks(2) REDUCTION
  for (int i = 0; i < 2; i++) {
    meet(&arrived);
    sum += i;
  }
  return sum < 0;
}
