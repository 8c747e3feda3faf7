// SPDX-License-Identifier: Apache-2.0
//
// A sum over a loop: with a reduction, or into the shared variable.
//
// WRONG: sum|*sum
#include <omp.h>
#include <stdio.h>

#include "meet.h"

#ifdef WRONG
#define REDUCTION
#else
#define REDUCTION reduction(+ : sum)
#endif

int main(void) {
  long sum = 0;
#pragma omp parallel for num_threads(2) REDUCTION
  for (int i = 0; i < 100; i++) sum += i;
  return sum < 0;
}
