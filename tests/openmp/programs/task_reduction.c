// SPDX-License-Identifier: Apache-2.0
//
// Tasks that add to one sum: by task_reduction and in_reduction, or to the shared variable.
//
// WRONG: sum|*sum|stack of T0
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int arrived;

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#ifdef WRONG
#pragma omp taskgroup
    for (int i = 0; i < 2; i++) {
#pragma omp task shared(sum)
      {
        meet(&arrived);
        sum += i;
      }
    }
#else
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 2; i++) {
#pragma omp task in_reduction(+ : sum)
      {
        meet(&arrived);
        sum += i;
      }
    }
#endif
  }
  return sum < 0;
}
