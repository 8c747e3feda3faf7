// SPDX-License-Identifier: Apache-2.0
//
// Sections that each add to one sum: by a reduction, or to the shared variable.
//
// WRONG: sum|*sum|stack of T0
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int arrived;

#ifdef WRONG
#define REDUCTION
#else
#define REDUCTION reduction(+ : sum)
#endif

int main(void) {
  int sum = 0;
#pragma omp parallel sections num_threads(2) REDUCTION
  {
#pragma omp section
    {
      meet(&arrived);
      sum += 1;
    }
#pragma omp section
    {
      meet(&arrived);
      sum += 2;
    }
  }
  return sum < 0;
}
