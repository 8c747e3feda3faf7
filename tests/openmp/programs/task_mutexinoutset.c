// SPDX-License-Identifier: Apache-2.0
//
// Tasks of a mutexinoutset come one at a time; those of no set do not.
//
// WRONG: sum
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int sum, seen;
static int arrived;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : sum)
    sum = 1;
    for (int i = 0; i < 2; i++) {
#ifdef WRONG
#pragma omp task depend(in : sum)
      {
        meet(&arrived);
        sum++;
      }
#else
#pragma omp task depend(mutexinoutset : sum)
      sum++;
#endif
    }
#pragma omp task depend(in : sum)
    seen = sum;
  }
  return sum < 2;
}
