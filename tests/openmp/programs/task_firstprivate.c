// SPDX-License-Identifier: Apache-2.0
//
// A task has its own copy of a loop counter, or refers to the shared one.
//
// WRONG: counter|*counter|stack*
#include <omp.h>
#include <stdio.h>

#include "meet.h"

static int values[8];
static int arrived;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    int counter;
#ifdef WRONG
    counter = 0;
#pragma omp task shared(counter)
    {
      meet(&arrived);
      values[0] = counter;
    }
    meet(&arrived);
    counter = 1;
#pragma omp taskwait
#else
    for (counter = 0; counter < 8; counter++) {
#pragma omp task firstprivate(counter)
      values[counter] = counter;
    }
#endif
  }
  return values[7] < 0;
}
